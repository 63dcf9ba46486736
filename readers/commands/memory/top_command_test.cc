#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TopOfATimeTest : public ::testing::Test {
 protected:
  // The rows of CSV. What tracing itself cost is of the whole run.
  std::vector<std::string> Top(std::vector<std::string> options) {
    options.insert(options.begin(), {"top", file_.path(), "--csv"});
    const Printed printed = Report(options);
    EXPECT_EQ(printed.code, 0) << printed.err;
    std::vector<std::string> lines = CsvLines(printed);
    lines.erase(lines.begin());
    return lines;
  }

  // 4 MiB came at 0.2 ms, 1 MiB went at 0.3 ms.
  TempFile file_{SmallRun().Build()};
};

TEST_F(TopOfATimeTest, RowsOfOtherTimesDoNotCount) {
  using Lines = std::vector<std::string>;
  const std::string came = "/job.py,5,work,4194304,0,4194304,1,1.000000";
  const std::string went = "/job.py,5,work,0,1048576,-1048576,1,0.000000";
  EXPECT_EQ(Top({"--to", "0.00025"}).size(), 2u);
  EXPECT_EQ(Top({"--from", "half"}), Lines{went});
  EXPECT_EQ(Top({"--from", "0.00025"}), Lines{went});
  EXPECT_EQ(Top({"--from", "0.0002", "--to", "0.00025"}), Lines{came});
  // At that very moment: it is in one of the halves.
  EXPECT_EQ(Top({"--from", "0.0003"}), Lines{went});
  EXPECT_EQ(Top({"--from", "0.0002", "--to", "0.0003"}), Lines{came});
}

// Nothing is left over either: what came before the range is no part of it.
TEST_F(TopOfATimeTest, WhatNoRowHasIsOfThatTimeToo) {
  for (const auto& options : std::vector<std::vector<std::string>>{
           {"--to", "0.00025"}, {"--from", "0.00025"}, {"--to", "0.000001"}}) {
    for (const std::string& line : Top(options)) {
      EXPECT_THAT(line, Not(HasSubstr("in no logged row")));
    }
  }
}

TEST_F(TopOfATimeTest, ARangeWithoutGrowthIsSaid) {
  const Printed text =
      Report({"top", file_.path(), "--from", "0.00021", "--to", "0.00025"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, "");
  EXPECT_THAT(text.err, HasSubstr(": the range has no growth; the run has "
                                  "events from 0.000 s to 0.000 s\n"));
  EXPECT_EQ(Top({"--from", "0.00021", "--to", "0.00025"}).size(), 0u);
}

TEST_F(TopOfATimeTest, AMarkIsATime) {
  const Printed none = Report({"top", file_.path(), "--from", "nothing"});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("nothing"));
}

// 50 pages of one thread come, then 30 of the other; at the end 40 go.
TEST(TopOfATimeByThreadTest, PagesOfOtherTimesDoNotCount) {
  TempFile file(PageEventsRun().Build());
  const auto rows = [&](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"top", file.path(), "--by", "thread", "--csv"});
    std::vector<std::string> lines = CsvLines(Report(options));
    lines.erase(lines.begin());
    return lines;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(rows({"--from", "0.01", "--to", "0.1"}),
            Lines{"MainThread#4711,204800,0,204800,0,1.000000"});
  EXPECT_EQ(rows({"--from", "0.1", "--to", "0.3"}),
            Lines{"worker#4712,122880,0,122880,0,1.000000"});
  EXPECT_EQ(rows({"--from", "0.3", "--to", "0.45"}),
            Lines{"MainThread#4711,0,163840,-163840,0,0.000000"});
}

}  // namespace
}  // namespace pymemrun
