#include "text/block_chart.h"

#include "gtest/gtest.h"
#include "text/fitted_text.h"

namespace pymemrun {
namespace {

TEST(BlockBarTest, IsAsLongAsItsShare) {
  EXPECT_EQ(BlockBar(0, 10, true), "");
  EXPECT_EQ(BlockBar(0.25, 10, true), "██▌");
  EXPECT_EQ(BlockBar(1, 4, true), "████");
  EXPECT_EQ(BlockBar(7, 4, true), "████");
  EXPECT_EQ(BlockBar(-1, 4, true), "");
  EXPECT_EQ(BlockBar(0.25, 10, false), "###");
}

TEST(BlockCurveTest, TheHighestValueIsTheTop) {
  EXPECT_EQ(BlockCurve({0, 1, 2, 4}, 4, true), "▁▃▅█");
  EXPECT_EQ(BlockCurve({0, 1, 2, 4}, 4, false), ".-+@");
  EXPECT_EQ(BlockCurve({3, -1}, 4, false), "@...");
  EXPECT_EQ(BlockCurve({}, 2, false), "..");
}

TEST(ColumnsTest, PadsAndCuts) {
  EXPECT_EQ(PadRight("é", 3), "é  ");
  EXPECT_EQ(PadLeft("é", 3), "  é");
  EXPECT_EQ(PadLeft("abcd", 3), "abcd");
  EXPECT_EQ(CutToColumns("abcdef", 6), "abcdef");
  EXPECT_EQ(CutToColumns("abcdef", 5), "abc..");
  EXPECT_EQ(CutToColumns("ééééé", 4), "éé..");
  EXPECT_EQ(CutToColumns("a\tb", 9), "a\\x09b");
}

TEST(ColumnsTest, SizesHaveThreeDigitsAtMost) {
  EXPECT_EQ(ShortBytes(0), "0 bytes");
  EXPECT_EQ(ShortBytes(999), "999 bytes");
  EXPECT_EQ(ShortBytes(1024), "1.0 KiB");
  EXPECT_EQ(ShortBytes(102.4 * 1048576), "102 MiB");
  EXPECT_EQ(ShortBytes(1000 * 1048576.0), "1.0 GiB");
  EXPECT_EQ(ShortBytes(-6.7 * 1048576), "-6.7 MiB");
  EXPECT_EQ(Percent(0.333), "33 %");
}

TEST(ColumnsTest, PathsAreShortWhereTheirReaderKnowsTheRest) {
  EXPECT_EQ(ShortPath("/src/app/job.py", "/src"), "app/job.py");
  EXPECT_EQ(ShortPath("/srcs/job.py", "/src"), "/srcs/job.py");
  EXPECT_EQ(ShortPath("/v/lib/python3.11/site-packages/pandas/io/a.py", "/src"),
            "pandas/io/a.py");
  EXPECT_EQ(ShortPath("job.py", ""), "job.py");
}

TEST(BlockColumnsTest, GoOverSeveralLines) {
  EXPECT_EQ(BlockColumns({0, 1, 2, 4}, 2, true),
            (std::vector<std::string>{"   █", " ▄██"}));
  EXPECT_EQ(BlockColumns({0, 1, 2, 4}, 2, false),
            (std::vector<std::string>{"   #", " ###"}));
  EXPECT_EQ(BlockColumns({0, 0}, 1, true), std::vector<std::string>{"  "});
}

}  // namespace
}  // namespace pymemrun
