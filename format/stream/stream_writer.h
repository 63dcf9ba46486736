// Writes the run file: records, delimited, in independent zstd frames.
// The collector uses it; so do tests and generators.
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

// Not thread safe. The sink must outlive the writer.
class StreamWriter {
 public:
  struct Options {
    int level = 1;                         // zstd's; see kStored
    size_t max_frame_bytes = kFrameBytes;  // of decompressed records
  };
  static constexpr int kStored = -1000;  // frames of raw blocks

  static absl::StatusOr<std::unique_ptr<StreamWriter>> Create(ByteSink* sink,
                                                              Options options);
  virtual ~StreamWriter() = default;

  // Adds one record (a pymemrun.Record). Ends the frame first when the record
  // does not fit into it; a record larger than a frame gets one of its own.
  // After a failure of the sink every call returns that failure, and nothing
  // more is written.
  virtual absl::Status Append(const google::protobuf::MessageLite& record) = 0;
  // The same for a record that is serialised already.
  virtual absl::Status AppendSerialized(absl::string_view record) = 0;
  // Ends the frame and writes it. No effect on an empty frame.
  virtual absl::Status Flush() = 0;
  // Ends the frame and writes an index of all frames, which lets readers of a
  // part of the run skip the rest. To be called last, once, by a writer whose
  // frames begin with the file.
  virtual absl::Status WriteIndex() = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_STREAM_WRITER_H_
