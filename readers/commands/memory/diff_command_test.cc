#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/diff_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

Printed Diff(const DiffRun& before, const DiffRun& after,
             std::vector<std::string> options = {}) {
  const TempFile old_file(before.Build()), new_file(after.Build());
  options.insert(options.begin(), {"diff", old_file.path(), new_file.path()});
  return Report(options);
}

// "heap /src/job.py:12 work +1048576 edited", for each place.
std::vector<std::string> Rows(const DiffRun& before, const DiffRun& after,
                              std::vector<std::string> options = {}) {
  options.push_back("--json");
  const Printed printed = Diff(before, after, options);
  EXPECT_EQ(printed.code, 0) << printed.err;
  std::vector<std::string> rows;
  const auto json = nlohmann::json::parse(printed.out);
  for (const auto& row : json["places"]) {
    rows.push_back(absl::StrCat(
        row["measure"].get<std::string>(), " ", row["file"].get<std::string>(),
        ":", row["line"].get<int>(), " ", row["function"].get<std::string>(),
        " ", row["change_bytes"].get<int64_t>(), " ",
        row["mark"].get<std::string>()));
  }
  return rows;
}

DiffRun Before() {
  return {{{11, 1, 4 * kMiB, kMiB}, {12, 2, 2 * kMiB}, {13, 3, kMiB}}};
}

TEST(DiffCommandTest, OneRunIsNoDifferentFromItself) {
  EXPECT_THAT(Rows(Before(), Before()), ElementsAre());
  const Printed printed = Diff(Before(), Before());
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, HasSubstr("\nLive bytes at their peak\n"
                                     "nothing changed\n"));
}

TEST(DiffCommandTest, RunsThatRecordedDifferentThingsAreSaid) {
  DiffRun sampled = Before();
  sampled.mean_bytes = 1024;
  EXPECT_THAT(Diff(sampled, Before()).out,
              HasSubstr("\nOLD recorded calls, heap sampled, NEW calls, heap: "
                        "places may be new or gone\nonly because of that.\n"));
  EXPECT_THAT(Diff(Before(), Before()).out, Not(HasSubstr("recorded")));
}

TEST(DiffCommandTest, PartsOfRunsAreNotJudged) {
  const auto judged = [](const DiffRun& before, const DiffRun& after,
                         const char* limit) {
    const Printed printed = Diff(before, after, {"--fail-if", limit});
    return absl::StrCat(printed.code, " ", printed.err);
  };
  DiffRun lossy = Before(), killed = Before();
  lossy.heap_events_lost = 12;
  killed.end = Footer::SIGNAL;
  EXPECT_THAT(
      Diff(Before(), lossy).out,
      HasSubstr("\nNEW lost 12 heap events: its live bytes are wrong.\n"));
  EXPECT_EQ(judged(Before(), lossy, "heap>+5%"),
            "2 pymemreport: heap>+5%: NEW lost 12 heap events\n");
  EXPECT_EQ(judged(lossy, Before(), "heap>+5%"),
            "2 pymemreport: heap>+5%: OLD lost 12 heap events\n");
  EXPECT_EQ(judged(lossy, Before(), "heap>1GiB"), "0 ");
  EXPECT_EQ(judged(Before(), lossy, "peak>+5%"), "0 ");
  EXPECT_THAT(Diff(Before(), killed).out,
              HasSubstr("\nOLD ended with exit 0, NEW with signal 0: one run "
                        "may have stopped earlier.\n"));
  EXPECT_EQ(
      judged(Before(), killed, "peak>+5%"),
      "2 pymemreport: peak>+5%: OLD ended with exit 0, NEW with signal 0\n");
  EXPECT_EQ(judged(killed, killed, "peak>+5%"), "0 ");
  EXPECT_THAT(judged(Before(), killed, "peak>1MiB"), StartsWith("3 "));
  EXPECT_EQ(judged(Before(), killed, "peak>1GiB"), "0 ");
}

TEST(DiffCommandTest, MovedLinesOfAnotherCheckoutAreTheSame) {
  DiffRun after = Before();
  after.file = "/elsewhere/new/job.py";
  for (DiffRun::Line& line : after.lines) {
    line.line += 7;
    line.first_line += 7;
  }
  EXPECT_THAT(Rows(Before(), after), ElementsAre());
  after.lines[1].bytes += kMiB;
  EXPECT_THAT(Rows(Before(), after),
              ElementsAre("heap /elsewhere/new/job.py:19 work 1048576 "));
}

TEST(DiffCommandTest, SaysWhatBecameOfALine) {
  DiffRun after = Before();
  after.lines = {{11, 1, 5 * kMiB, kMiB},
                 {12, 9, 4 * kMiB},
                 {33, 3, 3 * kMiB, 0, "other", 30},
                 {35, 7, 9 * kMiB, 2 * kMiB, "other", 30}};
  EXPECT_THAT(Rows(Before(), after),
              ElementsAre("heap /src/old/job.py:35 other 9437184 new",
                          "heap /src/old/job.py:12 work 2097152 edited",
                          "heap /src/old/job.py:33 other 2097152 moved",
                          "heap /src/old/job.py:11 work 1048576 ",
                          "heap-end /src/old/job.py:35 other 2097152 new"));
  EXPECT_THAT(Rows(after, Before(), {"--limit", "1"}),
              ElementsAre("heap /src/old/job.py:35 other -9437184 gone",
                          "heap-end /src/old/job.py:35 other -2097152 gone"));
  EXPECT_THAT(Diff(after, Before(), {"--limit", "1"}).out,
              HasSubstr("3 more rows; --limit 0 lists all\n"));
}

TEST(DiffCommandTest, HeapDiffKnowsLinesAgainToo) {
  DiffRun after = Before();
  after.file = "/new/job.py";
  for (DiffRun::Line& line : after.lines) line.line += 7;
  after.lines[1].bytes += kMiB;
  const TempFile first(Before().Build()), second(after.Build());
  EXPECT_EQ(Report({"heap", first.path(), "--diff", second.path(), "--csv",
                    "--limit", "1"})
                .out,
            "file,line,function,change_bytes,change_count,before_bytes,"
            "after_bytes\r\n"
            "/new/job.py,19,work,1048576,0,2097152,3145728\r\n"
            "<other places>,,,0,0,5242880,5242880\r\n");
}

TEST(DiffCommandTest, OtherPlaces) {
  DiffRun after = Before();
  after.file = "/new/job.py";
  after.lines[0].bytes += kMiB;
  after.lines[1].bytes -= kMiB / 2;
  EXPECT_THAT(Rows(Before(), after, {"--by", "function"}),
              ElementsAre("heap /new/job.py:10 work 524288 "));
  EXPECT_THAT(Diff(Before(), after, {"--by", "file", "--csv"}).out,
              HasSubstr("\r\nheap,/new/job.py,524288,7340032,7864320,0,,"
                        "/src/old/job.py\r\n"));
  EXPECT_THAT(Diff(Before(), after, {"--by", "thread", "--csv"}).out,
              HasSubstr("\r\nheap,MainThread#4711,524288,"));
}

TEST(DiffCommandTest, StacksOfBothRunsAreOneTree) {
  DiffRun after = Before();
  after.file = "/new/job.py";
  after.lines[1].bytes += kMiB;
  after.lines.push_back({14, 4, 2 * kMiB});
  const Printed printed = Diff(Before(), after, {"--stacks", "--json"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  const auto rows = nlohmann::json::parse(printed.out)["stacks"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["line"], 14);
  EXPECT_EQ(rows[0]["mark"], "new");
  EXPECT_EQ(rows[1]["line"], 12);
  EXPECT_EQ(rows[1]["change_bytes"], kMiB);
  EXPECT_EQ(rows[1]["before_bytes"], 2 * kMiB);
  EXPECT_THAT(Diff(Before(), after, {"--stacks"}).out,
              HasSubstr("work (/new/job.py:12)"));
}

// One line of a hundred is four errors off.
TEST(DiffCommandTest, OfManyPlacesOneMayBeFarOff) {
  DiffRun before, after;
  for (uint32_t i = 0; i < 10; ++i) {
    after.lines.push_back({12, 2, 65536});
    if (i < 1) before.lines.push_back({12, 2, 65536});
  }
  before.mean_bytes = after.mean_bytes = 64 << 10;
  EXPECT_EQ(Rows(before, after).size(), 1u);
  for (uint32_t line = 100; line < 200; ++line) {
    before.lines.push_back({line, 1, 65536});
    after.lines.push_back({line, 1, 65536});
  }
  EXPECT_THAT(Rows(before, after), testing::IsEmpty());
}

// 1 MiB of blocks of 64 KiB at one sample in 512 KiB has an error of 0.7 MiB.
TEST(DiffCommandTest, WhatChanceMayHaveMadeIsNotListed) {
  DiffRun before, after;
  for (uint32_t i = 0; i < 200; ++i) {
    before.lines.push_back({11, 1, 65536});
    if (i < 2) before.lines.push_back({12, 2, 65536});
    if (i < 4) after.lines.push_back({12, 2, 65536});
  }
  before.mean_bytes = after.mean_bytes = 512 << 10;
  const std::vector<std::string> rows = Rows(before, after);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], HasSubstr("job.py:11 work -"));
  EXPECT_THAT(Diff(after, after).out, HasSubstr("no significant change"));
  // Its change is 100 %, beyond errors by less than 60 %.
  EXPECT_EQ(Diff(after, before, {"--fail-if", "heap>+1MiB"}).code, 3);
  DiffRun twice = after;
  for (const DiffRun::Line& line : after.lines) twice.lines.push_back(line);
  EXPECT_EQ(Diff(after, twice, {"--fail-if", "heap>+1%"}).code, 0);
}

TEST(DiffCommandTest, TotalsComeFirst) {
  DiffRun after = Before();
  after.lines[1].bytes += kMiB;
  const std::string text = Diff(Before(), after).out;
  EXPECT_THAT(text, HasSubstr("peak RSS              14.0 MiB     16.0 MiB     "
                              "+2.0 MiB    +14.3 %\n"));
  EXPECT_THAT(text, HasSubstr("heap at its peak       7.0 MiB      8.0 MiB     "
                              "+1.0 MiB    +14.3 %\n"));
  EXPECT_THAT(text, HasSubstr("wall time              0.010 s      0.010 s"));
  const auto json =
      nlohmann::json::parse(Diff(Before(), after, {"--json"}).out);
  ASSERT_EQ(json["totals"].size(), 6u);
  EXPECT_EQ(json["totals"][1]["name"], "heap");
  EXPECT_EQ(json["totals"][1]["change"], kMiB);
  EXPECT_EQ(json["totals"][3]["name"], "growth");
  EXPECT_EQ(json["totals"][3]["after"], kMiB);
  EXPECT_EQ(json["totals"][4]["after"], 0.01);
}

TEST(DiffCommandTest, RunsWithoutHeapEventsHaveTotals) {
  DiffRun before = Before();
  before.with_heap = false;
  const Printed printed = Diff(before, Before());
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, HasSubstr("heap at its peak             -      7.0 "
                                     "MiB\n"));
  EXPECT_THAT(printed.out, HasSubstr("No places can be compared"));
  EXPECT_EQ(Diff(before, before, {"--stacks"}).code, 2);
}

TEST(DiffCommandTest, LimitsThatAreExceededAreSaidAndExitWith3) {
  DiffRun after = Before();
  after.lines[1].bytes += kMiB;
  const Printed broken =
      Diff(Before(), after,
           {"--fail-if", "heap>+5%", "--fail-if", "heap>+1KiB", "--fail-if",
            "heap>+15%", "--fail-if", "peak>15MiB", "--fail-if", "time>+1ms"});
  EXPECT_EQ(broken.code, 3);
  EXPECT_EQ(broken.err,
            "pymemreport: heap is 8.0 MiB, +1.0 MiB (+14.3 %) from 7.0 MiB: "
            "more than heap>+5% allows\n"
            "pymemreport: heap is 8.0 MiB, +1.0 MiB (+14.3 %) from 7.0 MiB: "
            "more than heap>+1KiB allows\n"
            "pymemreport: peak is 16.0 MiB: more than peak>15MiB allows\n");
  EXPECT_THAT(broken.out, HasSubstr("peak RSS"));
  EXPECT_EQ(Diff(Before(), after, {"--fail-if", "heap>+1MiB"}).code, 0);
  EXPECT_EQ(Diff(after, Before(), {"--fail-if", "heap>+0%"}).code, 0);
}

TEST(DiffCommandTest, ALimitThatCannotBeJudgedIsNoSuccess) {
  DiffRun before = Before();
  before.with_heap = false;
  const Printed printed = Diff(before, Before(), {"--fail-if", "heap>+5%"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_EQ(printed.err,
            "pymemreport: heap>+5%: OLD has no heap: it was not recorded\n");
  EXPECT_EQ(Diff(before, Before(), {"--fail-if", "heap>1GiB"}).code, 0);
}

TEST(DiffCommandTest, FiguresForToolsThatKeepThem) {
  const auto bmf =
      nlohmann::json::parse(Diff(Before(), Before(), {"--format", "bmf"}).out);
  EXPECT_EQ(bmf["job.py"]["heap"]["value"], 7 * kMiB);
  EXPECT_EQ(bmf["job.py"]["time"]["value"], 0.01);
  EXPECT_EQ(bmf["job.py"].size(), 6u);
  DiffRun sampled = Before();
  sampled.mean_bytes = kMiB;
  const auto estimated =
      nlohmann::json::parse(Diff(sampled, sampled, {"--format", "bmf"}).out);
  EXPECT_LT(estimated["job.py"]["heap"]["lower_value"],
            estimated["job.py"]["heap"]["value"]);
  const auto smaller = nlohmann::json::parse(
      Diff(sampled, Before(), {"--format", "customSmallerIsBetter"}).out);
  ASSERT_EQ(smaller.size(), 6u);
  EXPECT_EQ(smaller[1], (nlohmann::json{{"name", "job.py heap"},
                                        {"unit", "bytes"},
                                        {"value", 7 * kMiB}}));
  EXPECT_EQ(
      Diff(Before(), Before(), {"--format", "bmf", "--fail-if", "heap>1MiB"})
          .code,
      3);
}

TEST(DiffCommandTest, WhatDoesNotGoTogetherIsSaid) {
  const auto problem = [](std::vector<std::string> options) {
    const Printed printed = Diff(Before(), Before(), std::move(options));
    EXPECT_EQ(printed.code, 2);
    return printed.err;
  };
  EXPECT_THAT(problem({"--fail-if", "peak"}),
              HasSubstr("--fail-if: expected a limit in quotes"));
  EXPECT_THAT(problem({"--format", "bmf", "--json"}),
              HasSubstr("--format bmf does not go with --json"));
  EXPECT_THAT(problem({"--format", "bmf", "--at", "peak"}),
              HasSubstr("--at peak does not go with --format bmf"));
  EXPECT_THAT(problem({"--at", "no such mark"}), HasSubstr("no such mark"));
  EXPECT_THAT(problem({"--stacks", "--by", "thread"}),
              HasSubstr("thread does not go with --stacks"));
  EXPECT_THAT(problem({"--format", "xml"}), HasSubstr("bmf or customSmaller"));
  EXPECT_THAT(problem({"third.pb"}), HasSubstr("takes two files, OLD and NEW"));
  const TempFile file(Before().Build());
  EXPECT_THAT(Report({"diff", file.path()}).err, HasSubstr("two files"));
  EXPECT_EQ(Report({"diff", file.path(), "no/such.pb"}).code, 1);
}

// Lines 11 and 12 have 1 MiB more each, at the end line 12 alone.
TEST(DiffCommandTest, AtAMomentPlacesHaveWhatTheyHeldThen) {
  DiffRun after = Before();
  after.lines[0].bytes += kMiB;
  after.lines[1].bytes = 3 * kMiB;
  after.lines[1].end_bytes = kMiB;
  EXPECT_THAT(Rows(Before(), after, {"--at", "1.5ms"}),
              ElementsAre("heap /src/old/job.py:11 work 1048576 ",
                          "heap /src/old/job.py:12 work 1048576 "));
  EXPECT_THAT(Rows(Before(), after, {"--at", "exit"}),
              ElementsAre("heap /src/old/job.py:12 work 1048576 "));
  EXPECT_THAT(Diff(Before(), after, {"--at", "exit"}).out,
              HasSubstr("\nLive bytes at exit (old 0.010 s, new 0.010 s)\n"));
  EXPECT_THAT(Diff(Before(), after, {"--at", "5ms"}).out,
              HasSubstr("\nLive bytes at old 0.005 s, new 0.005 s\n"));
  const Printed stacks =
      Diff(Before(), after, {"--at", "exit", "--stacks", "--csv"});
  EXPECT_THAT(stacks.out, HasSubstr("/job.py,12,work,1048576,"));
  EXPECT_THAT(stacks.out, Not(HasSubstr("/job.py,11,")));
  // Totals are of the whole runs.
  EXPECT_EQ(
      Diff(Before(), after, {"--at", "exit", "--fail-if", "heap>+1KiB"}).code,
      3);
}

// load has gone and read is new, with 80 pages at the peak and 40 at the end.
TEST(DiffCommandTest, ResidentBytesByEachKindOfPlace) {
  PageEventsRun after;
  after.load = "read";
  const TempFile old_file(PageEventsRun().Build()), new_file(after.Build());
  const auto resident = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"diff", old_file.path(),
                                          new_file.path(), "--csv"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Printed printed = Report(arguments);
    EXPECT_EQ(printed.code, 0) << printed.err;
    return CsvLines(printed);
  };
  EXPECT_THAT(resident({"--by", "function"}),
              UnorderedElementsAre(
                  _, StartsWith("resident,/job.py,3,read,327680,0,327680,"),
                  StartsWith("resident,/job.py,3,load,-327680,327680,0,")));
  EXPECT_THAT(resident({"--by", "function", "--at", "exit"}),
              UnorderedElementsAre(
                  _, StartsWith("resident,/job.py,3,read,163840,0,163840,"),
                  StartsWith("resident,/job.py,3,load,-163840,163840,0,")));
  for (const char* const by : {"line", "library-line"}) {
    EXPECT_THAT(resident({"--by", by}),
                IsSupersetOf({StartsWith("resident,/job.py,5,read,204800,0,"),
                              StartsWith("resident,/job.py,6,read,122880,0,")}))
        << by;
  }
  for (const char* const by : {"file", "thread", "module"}) {
    EXPECT_THAT(resident({"--by", by}), ElementsAre(_)) << by;
  }
}

}  // namespace
}  // namespace pymemrun
