// Reads a run file record by record. The file is not trusted: every length is
// checked against the bytes left and a fixed limit before memory is allocated.
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

// Not thread-safe. The source must outlive the reader.
class StreamReader {
 public:
  struct Options {
    size_t max_record_bytes = kMaxRecordBytes;
    int max_window_log = kMaxWindowLog;  // the largest zstd window accepted
    // Largest frame, compressed or not. Memory use is at most a few times this
    // for any file.
    size_t max_frame_bytes = kMaxFrameBytes;
    // Frames to skip; null: none. Must outlive the reader.
    ReadPlan* plan = nullptr;
    // For ReadStream(): decode ahead in a separate thread if there is a CPU for
    // it.
    bool ahead = false;
    // The file was read before without damage, so skipped frames need no check.
    bool was_checked = false;
  };
  enum class Result {
    kRecord,  // *record is set, valid until the next call
    kDamage,  // damage() says what; reading goes on at the next frame
    kTorn,    // the file ends inside a frame: the writer was cut off
    kEnd,     // the file ends after a whole frame
  };
  // Code of `status`: kInvalidArgument: the file does not begin with a frame,
  // so it is probably not a run file. kDataLoss: damage inside a run file. Any
  // other code: the source failed, and every later call returns kEnd.
  struct Damage {
    uint64_t offset = 0;      // of the damaged frame in the file
    uint64_t bytes_lost = 0;  // bytes of the file; 0: unknown
    absl::Status status;      // "expected ..., found ..."
  };

  static std::unique_ptr<StreamReader> Create(ByteSource* source,
                                              Options options);
  virtual ~StreamReader() = default;

  // Sets *record to the next serialised record. Records of a frame are returned
  // only after its checksum was verified. kTorn and kEnd are final unless the
  // source grows; then a further call continues.
  virtual Result Next(absl::string_view* record) = 0;
  // Describes the last result. After kEnd only `offset` is set: the end.
  // REQUIRES: the last result was not kRecord.
  virtual const Damage& damage() const = 0;
  // File offset of the frame that the last record came from.
  virtual uint64_t frame_offset() const = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_STREAM_READER_H_
