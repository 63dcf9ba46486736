#include "readers/report/option_groups.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/run/own_code.h"
#include "readers/testing/gil_run_for_tests.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TableOptionsTest, MachinesHaveAllRowsUnlessTheySayOtherwise) {
  TableOptions table;
  table.usual_limit = 20;
  EXPECT_EQ(table.limit(), 20u);
  table.csv = true;
  EXPECT_EQ(table.limit(), 0u);
  table.given_limit = 3;
  EXPECT_EQ(table.limit(), 3u);
}

std::string Refusal(const std::vector<std::string>& words) {
  const Printed printed = Report(words);
  EXPECT_EQ(printed.code, 2) << printed.err;
  EXPECT_EQ(printed.out, "");
  return printed.err;
}

TEST(RefusedOptionsTest, ASentenceSaysWhyAndWhereTheyWork) {
  EXPECT_THAT(Refusal({"states", "x.pb", "--task", "a"}),
              HasSubstr("--task: states does not tell tasks apart; heap, "
                        "timeline, top, tasks and resident take it"));
  EXPECT_THAT(Refusal({"processes", "x.pb", "--from", "1"}),
              HasSubstr("--from: processes shows one moment or the whole run; "
                        "timeline, top, calls, gil, tasks and states take it"));
  EXPECT_THAT(Refusal({"flame", "x.pb", "--limit", "1"}),
              HasSubstr("--limit: flame always prints everything; heap, "));
  EXPECT_THAT(
      Refusal({"states", "x.pb", "--by", "line"}),
      HasSubstr("--by: states groups its rows in one way only; heap, "));
  // They are never suggested.
  EXPECT_THAT(Refusal({"states", "x.pb", "--tasks"}),
              Not(HasSubstr("--task?")));
}

TEST(RefusedOptionsTest, NamesWhatWasTyped) {
  EXPECT_THAT(Refusal({"heap", "x.pb", "--objects", "--sort", "live"}),
              HasSubstr(" --objects does not go with --sort live"));
  EXPECT_THAT(Refusal({"heap", "x.pb", "--temporary", "--at", "3"}),
              HasSubstr("--at 3 does not go with --temporary ("));
  EXPECT_THAT(Refusal({"heap", "x.pb", "--inverted"}),
              HasSubstr("--inverted needs --as tree"));
  EXPECT_THAT(Refusal({"tree", "x.pb", "--csv"}),
              HasSubstr(" tree does not go with --csv"));
  EXPECT_THAT(Refusal({"tree", "x.pb", "--as", "table"}),
              HasSubstr("--as does not go with tree"));
  EXPECT_THAT(Refusal({"query", "x.pb", ""}),
              HasSubstr("SELECT: expected a value, found ''"));
  EXPECT_THAT(Refusal({"timeline", "x.pb", "--threads", "--json"}),
              HasSubstr("--threads does not go with --json"));
}

TEST(RefusedOptionsTest, WhatWouldDoNothing) {
  for (const char* as : {"tree", "snapshot"}) {
    EXPECT_THAT(Refusal({"heap", "x.pb", "--as", as, "--own", "a"}),
                HasSubstr(std::string("--as ") + as + " does not go with"));
  }
  EXPECT_THAT(Refusal({"resident", "x.pb", "--stacks", "--own", "a"}),
              HasSubstr("--own a does not go with --stacks"));
  EXPECT_THAT(Refusal({"flame", "x.pb", "--own", "a"}),
              HasSubstr("--own: a flame graph shows all frames"));
  OwnCode::SetPatterns({});
  for (const char* of_peaks : {"--file", "--function", "--min", "--rebase"}) {
    EXPECT_THAT(
        Refusal(
            {"timeline", "x.pb", "--of", "threads", "--csv", of_peaks, "1"}),
        HasSubstr(std::string(of_peaks) + " applies only to the picture"));
  }
}

TEST(RangeOptionsTest, WhatBeginsBehindTheEndIsRefused) {
  const TempFile heap(HeapRun().Build());
  const TempFile gil(GilRun().Build());
  const std::vector<std::vector<std::string>> reports = {
      {"timeline", heap.path(), "--of", "heap"}, {"gil", gil.path()}};
  for (std::vector<std::string> words : reports) {
    EXPECT_EQ(Report(words).code, 0);
    words.insert(words.end(), {"--to", "1000"});
    EXPECT_EQ(Report(words).code, 0);
    words.insert(words.end() - 2, {"--from", "999"});
    EXPECT_THAT(Refusal(words),
                HasSubstr(": --from: 999.000 s is not before the run's "
                          "end, 0."));
  }
  EXPECT_EQ(Report({"heap", heap.path(), "--at", "1ms", "--to", "1000"}).out,
            Report({"heap", heap.path(), "--at", "1ms", "--to", "exit"}).out);
}

TEST(RefusedOptionsTest, WhatLeavesNothingIsSaidOfEachRun) {
  const TempFile one(HeapRun().Build()), two(HeapRun().Build());
  const std::string said = ": --file 'x.py' leaves no place\n";
  EXPECT_EQ(
      Report({"heap", one.path(), two.path(), "--by", "file", "--file", "x.py"})
          .err,
      "pymemreport: " + one.path() + said + "pymemreport: " + two.path() +
          said);
}

TEST(RangeOptionsTest, TheirOwnFaultIsSaidOnceAndBeforeAnyFile) {
  for (const char* const report :
       {"timeline", "top", "calls", "gil", "tasks", "states"}) {
    EXPECT_EQ(Refusal({report, "x.pb", "y.pb", "--from", "2", "--to", "1"}),
              "pymemreport: --to: expected a moment after --from, found '1' "
              "(see pymemreport --help)\n");
  }
  EXPECT_THAT(Refusal({"gil", "x.pb", "--to", "10%", "--from", "50%"}),
              HasSubstr("--to: expected a moment after --from, found '10%'"));
  EXPECT_THAT(
      Refusal({"gil", "x.pb", "--to", "0"}),
      HasSubstr("--to: expected a moment after the run's beginning, found "));
  EXPECT_THAT(Refusal({"heap", "x.pb", "--at", "2", "--to", "1"}),
              HasSubstr("--to: expected a moment not before --at, found '1'"));
  EXPECT_THAT(
      Refusal({"gil", "x.pb", "y.pb", "--rows", "waits", "--sort", "a"}),
      HasSubstr("--sort of waits needs --csv or --json ("));
}

TEST(RangeOptionsTest, WhatARunHasTheOtherWayRoundIsSaidOfTheRun) {
  const TempFile gil(GilRun().Build());
  EXPECT_THAT(Refusal({"gil", gil.path(), "--from", "exit", "--to", "1us"}),
              AllOf(HasSubstr(gil.path() + ": --to: expected a moment after "
                                           "--from, "),
                    HasSubstr(" s, found 0.000 s\n")));
}

TEST(RefusedOptionsTest, AReasonIsGiven) {
  EXPECT_THAT(Refusal({"summary", "x.pb", "--thread", "a", "--csv"}),
              HasSubstr("--csv does not go with --thread a: the values cover "
                        "the whole process ("));
}

TEST(RefusedOptionsTest, AWordWithoutEndIsCut) {
  const std::string word(100000, 'x');
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{word},
        {"heap", "x.pb", "--" + word},
        {"heap", "x.pb", "--" + word + " y"},
        {"heap", "x.pb", "--by", word},
        {"heap", "x.pb", "--limit", word}}) {
    const std::string said = Refusal(words);
    EXPECT_LT(said.size(), 400u);
    EXPECT_THAT(said, HasSubstr("xxx..."));
  }
}

}  // namespace
}  // namespace pymemrun
