#include "readers/option_values.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/columns.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseBytesTest, ReadsSizesAndSaysWhatIsNone) {
  EXPECT_EQ(*ParseBytes("4KiB"), 4096u);
  EXPECT_EQ(ParseBytes("0.0001K").status().message(),
            "'0.0001K' is no whole number of bytes; expected such as 4096, "
            "4KiB, 1M");
}

TEST(ParseSecondsTest, ReadsMicroseconds) {
  EXPECT_EQ(*ParseSeconds("0.684542"), 684542u);
  EXPECT_EQ(*ParseSeconds("12"), 12000000u);
  EXPECT_EQ(*ParseSeconds(".5"), 500000u);
  for (const char* text : {"", "-1", "nan", "1s", "."}) {
    EXPECT_FALSE(ParseSeconds(text).ok()) << text;
  }
}

TEST(ParseKindsTest, ReadsNamesOfAnyCase) {
  EXPECT_EQ(*ParseKinds("call"), 1u << CALL);
  EXPECT_EQ(*ParseKinds("C_RETURN,mark"),
            1u << C_RETURN | FilterOptions::kMarkBit);
  EXPECT_THAT(ParseKinds("calls").status().message(), HasSubstr("'calls'"));
}

TEST(ParseRecordsTest, ChoosesCallsAndMarks) {
  FilterOptions options;
  ASSERT_TRUE(ParseRecords("marks", &options).ok());
  EXPECT_FALSE(options.calls);
  EXPECT_TRUE(options.marks);
  EXPECT_FALSE(options.extra.pages || options.extra.heap);
  ASSERT_TRUE(ParseRecords("calls,pages", &options).ok());
  EXPECT_TRUE(options.calls && options.extra.pages && !options.extra.heap);
  ASSERT_TRUE(ParseRecords("heap", &options).ok());
  EXPECT_TRUE(options.extra.heap);
  EXPECT_FALSE(options.calls || options.extra.pages);
}

TEST(ParseRecordsTest, SaysWhichWordIsNone) {
  FilterOptions options;
  EXPECT_THAT(ParseRecords("cals", &options).message(), HasSubstr("'cals'"));
}

TEST(ParseColumnsTest, KeepsTheOrder) {
  EXPECT_THAT(*ParseColumns("line,file"),
              ElementsAre(Column::kLine, Column::kFile));
}

TEST(ParseColumnsTest, RefusesUnknownAndRepeatedNames) {
  EXPECT_THAT(ParseColumns("event,fil").status().message(),
              HasSubstr("'fil' is no column"));
  EXPECT_THAT(ParseColumns("event,event").status().message(),
              HasSubstr("twice"));
  EXPECT_FALSE(ParseColumns("").ok());
}

TEST(ColumnsTest, EveryColumnHasItsName) {
  std::string names;
  for (const Column column : MachineColumns({.pages = true, .heap = true})) {
    names += std::string(ColumnName(column)) + " ";
  }
  EXPECT_EQ(names,
            "event devent clock_s what file line function rss_bytes drss_bytes "
            "thread pid context module rss_exact page_address action pages "
            "moved_to inferred instruction_module address size_bytes allocator "
            "weight caller_module ");
  EXPECT_EQ(MachineColumns({}).size(), 14u);
}

}  // namespace
}  // namespace pymemrun
