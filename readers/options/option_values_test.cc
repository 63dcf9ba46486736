#include "readers/options/option_values.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(ParseBytesTest, ReadsSizesAndSaysWhatIsNone) {
  EXPECT_EQ(*ParseBytes("4KiB"), 4096u);
  EXPECT_EQ(
      ParseBytes("0.0001K").status().message(),
      "'0.0001K' is not a whole number of bytes, such as 4096, 4KiB or 1M");
}

TEST(ParseNumberTest, SaysTheRange) {
  EXPECT_EQ(*ParseNumber("24", 1, 24), 24u);
  EXPECT_EQ(ParseNumber("25", 1, 24).status().message(),
            "expected a number from 1 to 24, found '25'");
  EXPECT_EQ(ParseNumber("-1", 0).status().message(),
            "expected a number from 0 on, found '-1'");
}

TEST(ExpectedOneOfTest, ListsTheWords) {
  EXPECT_EQ(ExpectedOneOf({"a", "b", "c"}, "x").message(),
            "expected a, b or c, found 'x'");
}

}  // namespace
}  // namespace pymemrun
