#include "launcher/size_text.h"

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
  EXPECT_EQ(ParseSize("9007199254740993"), 9007199254740993u);
}

TEST(ParseSizeTest, RefusesOtherText) {
  for (const char* text :
       {"", "K", "-1", "+1", "1X", "1KK", "0x10", "1e3", " 1", "1 K",
        "9999999999999999999", "9999999T", "nan", "inf", ".5K"}) {
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
