#include "text/number_format.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"

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

}  // namespace
}  // namespace pymemrun
