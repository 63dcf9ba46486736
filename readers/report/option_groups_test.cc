#include "readers/report/option_groups.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(TableOptionsTest, MachinesHaveAllRowsUnlessTheySayOtherwise) {
  TableOptions table;
  table.usual_limit = 20;
  EXPECT_EQ(table.limit(), 20u);
  table.csv = true;
  EXPECT_EQ(table.limit(), 0u);
  table.given_limit = 3;
  EXPECT_EQ(table.limit(), 3u);
}

}  // namespace
}  // namespace pymemrun
