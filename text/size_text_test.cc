#include "text/size_text.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

TEST(ParseSizeTest, ReadsNumbersAndUnits) {
  EXPECT_EQ(ParseSize("0"), 0u);
  EXPECT_EQ(ParseSize("4096"), 4096u);
  EXPECT_EQ(ParseSize("7B"), 7u);
  EXPECT_EQ(ParseSize("4KiB"), 4096u);
  EXPECT_EQ(ParseSize("4k"), 4096u);
  EXPECT_EQ(ParseSize("1M"), 1u << 20);
  EXPECT_EQ(ParseSize("1mib"), 1u << 20);
  EXPECT_EQ(ParseSize("2G"), uint64_t{2} << 30);
  EXPECT_EQ(ParseSize("1T"), uint64_t{1} << 40);
  EXPECT_EQ(ParseSize("1.5MB"), 1500000u);
  EXPECT_EQ(ParseSize("0.5KiB"), 512u);
  EXPECT_EQ(ParseSize("4 kib"), 4096u);
  EXPECT_EQ(ParseSize("9007199254740993"), 9007199254740993u);
  EXPECT_EQ(ParseSize("9223372036854775807"), uint64_t{INT64_MAX});
}

TEST(ParseSizeTest, AFractionMakesAWholeNumberOfBytesOrNone) {
  EXPECT_EQ(ParseSize("4096.0"), 4096u);
  EXPECT_EQ(ParseSize("0.0009765625K"), 1u);
  EXPECT_EQ(ParseSize("1.000000000001TB"), 1000000000001u);
  for (const char* text :
       {"0.0001K", "4096.7", "0.5", "1.1M", "1.", "0.0000000000000000001T"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
}

TEST(ParseSizeTest, RefusesOtherText) {
  for (const char* text : {"", "K", "-1", "+1", "1X", "1KK", "0x10", "1e3",
                           " 1", "9223372036854775808", "99999999999999999999",
                           "9999999T", "nan", "inf", ".5K"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseSize(std::string_view("1K\0", 3)), std::nullopt);
}

TEST(ParseNumberTest, KeepsToItsBounds) {
  EXPECT_EQ(ParseNumber("3", 0, 3), 3);
  EXPECT_EQ(ParseNumber("4", 0, 3), std::nullopt);
  EXPECT_EQ(ParseNumber("-1", -1, 3), -1);
  EXPECT_EQ(ParseNumber("1x", 0, 3), std::nullopt);
  EXPECT_EQ(ParseNumber("", 0, 3), std::nullopt);
}

}  // namespace
}  // namespace pymemrun
