#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/cat/cat_options.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace pymemrun
