// Every report on a run that lost events says so, once.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/diff_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

constexpr char kSaid[] =
    ": 4,449 events were lost because the disk was full or the collector too "
    "slow: figures are not exact\n";

std::string LossyRun() {
  DiffRun run;
  run.lines = {{5, 0, 5 << 20, 1 << 20}};
  run.heap_events_lost = 4449;
  return run.Build();
}

// How often stderr says it.
int Times(const std::string& err) {
  int times = 0;
  for (size_t at = 0; (at = err.find(kSaid, at)) != std::string::npos; ++at) {
    ++times;
  }
  return times;
}

TEST(LossesTest, ReportsWithoutAWordOfThemSayThemOnce) {
  const TempFile file(LossyRun());
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"top"},
        {"top", "--by", "function"},
        {"threads"},
        {"states"},
        {"counters"},
        {"tasks"},
        {"gil"},
        {"offgil"},
        {"timeline"},
        {"heap", "--csv"},
        {"report", "--json"},
        {"export"},
        {"export", "--format", "perfetto"}}) {
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.begin() + 1, file.path());
    const Printed printed = Report(arguments);
    EXPECT_EQ(Times(printed.err), 1) << options[0] << ": " << printed.err;
  }
}

TEST(LossesTest, ReportsThatTellThemSayNoMore) {
  const TempFile file(LossyRun());
  for (const char* command : {"report", "summary", "heap"}) {
    const Printed printed = Report({command, file.path()});
    EXPECT_THAT(printed.out, HasSubstr("4,449")) << command;
    EXPECT_EQ(printed.err, "") << command;
  }
}

TEST(LossesTest, WhereNothingIsLostNothingIsSaid) {
  DiffRun run;
  run.lines = {{5, 0, 5 << 20, 1 << 20}};
  const TempFile file(run.Build());
  const Printed printed = Report({"heap", file.path(), "--csv"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err, "");
}

}  // namespace
}  // namespace pymemrun
