#include "readers/replay/rows/row_columns.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseColumnsTest, KeepsTheOrder) {
  EXPECT_THAT(*ParseColumns("line,file"),
              ElementsAre(Column::kLine, Column::kFile));
}

TEST(ParseColumnsTest, RefusesUnknownAndRepeatedNames) {
  EXPECT_THAT(ParseColumns("event,fil").status().message(),
              HasSubstr("'fil' is not a column"));
  EXPECT_THAT(ParseColumns("event,event").status().message(),
              HasSubstr("twice"));
  EXPECT_FALSE(ParseColumns("").ok());
}

TEST(ColumnsTest, EveryColumnHasItsName) {
  std::string names;
  for (const Column column :
       MachineColumns({.pages = true, .heap = true, .calls = true})) {
    names += std::string(ColumnName(column)) + " ";
  }
  EXPECT_EQ(names,
            "event devent clock_s what file line function rss_bytes drss_bytes "
            "thread pid context module rss_exact page_address action pages "
            "moved_to inferred instruction_module address size_bytes allocator "
            "weight caller_module call_event call_s call_drss_bytes "
            "call_thread_drss_bytes "
            "thread_drss_bytes ");
  EXPECT_EQ(MachineColumns({}).size(), 15u);
  EXPECT_EQ(MachineColumns({.heap = true}).size(), 20u);
  EXPECT_EQ(MachineColumns({.calls = true}).size(), 19u);
}

}  // namespace
}  // namespace pymemrun
