#include "readers/across_runs/diff/gate.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

TEST(ParseLimitTest, TakesChangesAndValues) {
  const auto percent = ParseLimit("peak>+5%");
  ASSERT_TRUE(percent.ok());
  EXPECT_EQ(percent->total, Total::kPeak);
  EXPECT_TRUE(percent->is_change && percent->is_percent);
  EXPECT_EQ(percent->most, 5);
  const auto bytes = ParseLimit(" heap-end > +1.5MiB");
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->total, Total::kHeapEnd);
  EXPECT_TRUE(bytes->is_change && !bytes->is_percent);
  EXPECT_EQ(bytes->most, 1.5 * (1 << 20));
  const auto value = ParseLimit("peak>512MiB");
  ASSERT_TRUE(value.ok());
  EXPECT_FALSE(value->is_change);
  EXPECT_EQ(value->most, 512 << 20);
  EXPECT_EQ(ParseLimit("time>+0.5s")->most, 500000);
  EXPECT_EQ(ParseLimit("cpu>90ms")->most, 90000);
  EXPECT_EQ(ParseLimit("growth>+0")->most, 0);
  EXPECT_EQ(ParseLimit("time>+0.5%")->most, 0.5);
}

TEST(ParseLimitTest, RefusesAllElseInWords) {
  const auto problem = [](absl::string_view text) {
    return std::string(ParseLimit(text).status().message());
  };
  EXPECT_EQ(problem("peak"),
            "expected a limit in quotes, such as 'peak>+5%', found 'peak'");
  EXPECT_EQ(problem("rss>+5%"),
            "expected peak, heap, heap-end, growth, time or cpu, found 'rss'");
  for (const char* const text :
       {"peak>", "peak>+", "peak>5%", "peak>+%", "peak>+-5%", "peak>-5%",
        "peak>+1s", "peak>+x", "peak>+nan%", "peak>+inf%", "peak>++1"}) {
    EXPECT_THAT(problem(text),
                HasSubstr("expected +5%, +1MiB or a size, found"))
        << text;
  }
  for (const char* const text :
       {"time>+1MiB", "time>5", "cpu>+s", "time>+-1s"}) {
    EXPECT_THAT(problem(text), HasSubstr("+500ms or a time, found")) << text;
  }
}

TEST(FigureTextTest, HasUnits) {
  EXPECT_EQ(FigureText(Total::kPeak, 1 << 20), "1.0 MiB");
  EXPECT_EQ(FigureText(Total::kPeak, 1 << 20, true), "+1.0 MiB");
  EXPECT_EQ(FigureText(Total::kHeap, -(1 << 20), true), "-1.0 MiB");
  EXPECT_EQ(FigureText(Total::kTime, 1500000, true), "+1.500 s");
}

}  // namespace
}  // namespace pymemrun
