#include "readers/number_format.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "readers/output_buffer.h"

namespace pymemrun {
namespace {

std::string Seconds(uint64_t time_us) {
  char text[kMaxNumberWidth];
  return std::string(text, WriteSeconds(time_us, text));
}

TEST(NumberFormatTest, SecondsHaveSixDecimals) {
  EXPECT_EQ(Seconds(0), "0.000000");
  EXPECT_EQ(Seconds(1), "0.000001");
  EXPECT_EQ(Seconds(684542), "0.684542");
  EXPECT_EQ(Seconds(11037511), "11.037511");
  EXPECT_EQ(Seconds(std::numeric_limits<uint64_t>::max()),
            "18446744073709.551615");
}

TEST(NumberFormatTest, WidthsAreFilledAndPushed) {
  char text[64];
  EXPECT_EQ(std::string(text, WriteRight(6, uint64_t{42}, text)), "    42");
  EXPECT_EQ(std::string(text, WriteRight(2, int64_t{-4096}, text)), "-4096");
  const auto write = [](char* out) { return WriteDecimal(uint64_t{123}, out); };
  EXPECT_EQ(std::string(text, WriteLeft(5, text, write)), "123  ");
  EXPECT_EQ(std::string(text, WriteLeft(2, text, write)), "123");
}

TEST(NumberFormatTest, ExtremesFit) {
  char text[64];
  EXPECT_EQ(std::string(
                text, WriteDecimal(std::numeric_limits<int64_t>::min(), text)),
            "-9223372036854775808");
  EXPECT_EQ(std::string(
                text, WriteDecimal(std::numeric_limits<uint64_t>::max(), text)),
            "18446744073709551615");
}

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
