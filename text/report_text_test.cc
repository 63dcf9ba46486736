#include "text/report_text.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(ReportTextTest, SizesPickAUnit) {
  EXPECT_EQ(HumanBytes(0), "0 bytes");
  EXPECT_EQ(HumanBytes(1), "1 byte");
  EXPECT_EQ(HumanBytes(0.6), "1 byte");
  EXPECT_EQ(HumanBytes(1023), "1023 bytes");
  EXPECT_EQ(HumanBytes(1024), "1.0 KiB");
  EXPECT_EQ(HumanBytes(4096), "4.0 KiB");
  EXPECT_EQ(HumanBytes(41070592), "39.2 MiB");
  EXPECT_EQ(HumanBytes(1.6e9), "1.5 GiB");
  EXPECT_EQ(HumanBytes(-8192), "-8.0 KiB");
  EXPECT_EQ(HumanBytes(18446744073709551615.0), "16.0 EiB");
}

TEST(ReportTextTest, SizesAreNotRoundedToTheNextUnit) {
  EXPECT_EQ(HumanBytes(1048524), "1023.9 KiB");
  EXPECT_EQ(HumanBytes(1048525), "1.0 MiB");
}

TEST(ReportTextTest, CountsGroupThousandsAndKnowThePlural) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Counted(0, "row"), "0 rows");
  EXPECT_EQ(Counted(1, "row"), "1 row");
  EXPECT_EQ(Counted(1234, "row"), "1,234 rows");
  EXPECT_EQ(Counted(2, "process", "processes"), "2 processes");
}

TEST(ReportTextTest, TimesHaveMilliseconds) {
  EXPECT_EQ(HumanSeconds(0), "0.000 s");
  EXPECT_EQ(HumanSeconds(1234567), "1.235 s");
}

}  // namespace
}  // namespace pymemrun
