// A sink that only counts, for benchmarks.
#ifndef PYMEMRUN_FORMAT_STREAM_DISCARD_SINK_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_STREAM_DISCARD_SINK_FOR_TESTS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// Not thread safe.
class DiscardSink final : public ByteSink {
 public:
  absl::Status Append(absl::string_view bytes) override {
    bytes_ += bytes.size();
    return absl::OkStatus();
  }
  uint64_t bytes_written() const override { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_DISCARD_SINK_FOR_TESTS_H_
