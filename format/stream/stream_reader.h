// Reads a run file record by record, from strangers: every length is checked
// against what is left and against a fixed bound before memory is taken.
#ifndef PYMEMRUN_FORMAT_STREAM_STREAM_READER_H_
#define PYMEMRUN_FORMAT_STREAM_STREAM_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/limits.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

class ReadPlan;

// Not thread safe. The source must outlive the reader.
class StreamReader {
 public:
  struct Options {
    size_t max_record_bytes = kMaxRecordBytes;
    int max_window_log = kMaxWindowLog;  // the largest zstd window accepted
    // Of one frame, compressed as well as decompressed. Memory use is bounded
    // by a few times this, whatever the file.
    size_t max_frame_bytes = kMaxFrameBytes;
    // Which frames to leave out; null: none. Must outlive the reader.
    ReadPlan* plan = nullptr;
    // For ReadStream(): decode ahead in a thread of its own, where there is a
    // CPU for it.
    bool ahead = false;
    // The file was read before, and nothing was wrong with it: what is not
    // wanted need not be checked.
    bool was_checked = false;
  };
  enum class Result {
    kRecord,  // *record is set, valid until the next call
    kDamage,  // damage() says what; reading goes on at the next frame
    kTorn,    // the file ends inside a frame: the writer was cut off
    kEnd,     // the end, at a frame's end
  };
  // A status of code kInvalidArgument: the first bytes are no frame's, so this
  // is likely not a run file; of code kDataLoss: damage inside one. Any other
  // code: the source failed; every call after that returns kEnd.
  struct Damage {
    uint64_t offset = 0;      // in the file, of the frame concerned
    uint64_t bytes_lost = 0;  // of the file; 0 while unknown
    absl::Status status;      // expected what, found what
  };

  static std::unique_ptr<StreamReader> Create(ByteSource* source,
                                              Options options);
  virtual ~StreamReader() = default;

  // Gives the next record's serialised bytes. A frame's records are given only
  // once its checksum has been found right. kTorn and kEnd are final unless
  // the source grows: then a further call goes on.
  virtual Result Next(absl::string_view* record) = 0;
  // REQUIRES: the last result was not kRecord. Of kEnd it has the offset
  // alone: that of the end.
  virtual const Damage& damage() const = 0;
  // Offset in the file of the frame that the last record came from.
  virtual uint64_t frame_offset() const = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_STREAM_READER_H_
