#include "readers/output/output_buffer.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

// Takes `room` bytes and fails from then on.
class FullSink final : public ByteSink {
 public:
  explicit FullSink(size_t room) : room_(room) {}
  absl::Status Append(absl::string_view bytes) override {
    if (bytes.size() > room_) return absl::ResourceExhaustedError("full");
    room_ -= bytes.size();
    written_ += bytes.size();
    return absl::OkStatus();
  }
  uint64_t bytes_written() const override { return written_; }

 private:
  size_t room_;
  uint64_t written_ = 0;
};

TEST(OutputBufferTest, KeepsTheOrderOfSmallAndLargeTexts) {
  StringSink sink;
  OutputBuffer output(&sink);
  const std::string large(OutputBuffer::kCapacity + 1, 'x');
  output.Append("before ");
  output.Append(large);
  output.Append(" after");
  ASSERT_TRUE(output.Flush().ok());
  EXPECT_EQ(sink.contents(), "before " + large + " after");
}

TEST(OutputBufferTest, FlushesWhenFull) {
  StringSink sink;
  OutputBuffer output(&sink);
  const std::string piece(1000, 'y');
  for (int i = 0; i < 1000; ++i) output.Append(piece);
  EXPECT_GT(sink.bytes_written(), 500000u);
  ASSERT_TRUE(output.Flush().ok());
  EXPECT_EQ(sink.bytes_written(), 1000000u);
}

TEST(OutputBufferTest, AFailureSticks) {
  FullSink sink(10);
  OutputBuffer output(&sink);
  output.Append("0123456789ab");
  EXPECT_FALSE(output.Flush().ok());
  output.Append("more");
  EXPECT_EQ(output.Flush().message(), "full");
  EXPECT_EQ(sink.bytes_written(), 0u);
}

}  // namespace
}  // namespace pymemrun
