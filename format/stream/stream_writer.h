// Writes a run file: length-delimited records in independent zstd frames. Used
// by the collector, tests and generators.
#ifndef PYMEMRUN_FORMAT_STREAM_STREAM_WRITER_H_
#define PYMEMRUN_FORMAT_STREAM_STREAM_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "format/limits.h"
#include "format/stream/byte_io.h"
#include "google/protobuf/message_lite.h"

namespace pymemrun {

// Not thread-safe. The sink must outlive the writer.
class StreamWriter {
 public:
  struct Options {
    int level = 1;                         // of zstd, or kStored
    size_t max_frame_bytes = kFrameBytes;  // of uncompressed records
  };
  static constexpr int kStored = -1000;  // frames are not compressed

  // Fails with kInvalidArgument if an option is out of range, and with
  // kResourceExhausted if there is no memory.
  static absl::StatusOr<std::unique_ptr<StreamWriter>> Create(ByteSink* sink,
                                                              Options options);
  virtual ~StreamWriter() = default;

  // Adds one record, a pymemrun.Record. If it does not fit into the current
  // frame, ends that frame first; a record larger than a frame gets its own.
  // After a failure of the sink every call returns that failure and writes
  // nothing.
  virtual absl::Status Append(const google::protobuf::MessageLite& record) = 0;
  // The same for a serialised record.
  virtual absl::Status AppendSerialized(absl::string_view record) = 0;
  // Ends the current frame and writes it. No effect on an empty frame.
  virtual absl::Status Flush() = 0;
  // Ends the current frame and writes an index of all frames. With it readers
  // of a part of the run can skip the rest. Call it once, at the end. REQUIRES:
  // the first frame of this writer is the first of the file.
  virtual absl::Status WriteIndex() = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_STREAM_WRITER_H_
