// `pymemreport gil`, and what it reckons with.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/replay/gil/gil_replay.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/gil_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Printed GilReport(const std::string& run, std::vector<std::string> options) {
  TempFile file(run);
  options.insert(options.begin(), {"gil", file.path()});
  return Report(options);
}

TEST(GilReportTest, EachThreadHoldsWaitsOrIsWithout) {
  const Printed printed = GilReport(Contended().Build(), {"--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(
      printed.out,
      "thread,held_share,waiting_share,without_share,total_s,takes,"
      "longest_wait_s,longest_wait_for,held_s,waiting_s,without_s,waits\r\n"
      "worker#12,0.375000,0.500000,0.125000,0.080000,1,0.040000,MainThread#11,"
      "0.030000,0.040000,0.010000,1\r\n"
      "MainThread#11,0.500000,0.000000,0.500000,0.100000,3,,,0.050000,0.000000,"
      "0.050000,0\r\n");
}

TEST(GilReportTest, TheSentenceNamesTheLineThatHoldsItLongest) {
  const Printed printed = GilReport(Contended().Build(), {});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("1 thread waits 50 % of its time for the GIL, 40.0 ms "
                        "at most; json.loads at app.py:31 holds it longest"));
  EXPECT_THAT(printed.out, HasSubstr("worker#12 waited 40.0 ms at 0.020 s for "
                                     "MainThread#11"));
  EXPECT_THAT(printed.out, HasSubstr("waiter: app.py:50 work"));
  EXPECT_THAT(printed.out, HasSubstr("__init__.py:346 loads < app.py:31 work"));
}

// Holds and waits that go beyond the time count as far as they are within.
TEST(GilReportTest, APartOfTheTime) {
  const std::string run = Contended().Build();
  const std::vector<std::string> range = {"--from", "40ms", "--to", "70ms"};
  std::vector<std::string> options = {"--csv"};
  options.insert(options.end(), range.begin(), range.end());
  const std::string csv = GilReport(run, options).out;
  EXPECT_THAT(csv, HasSubstr("worker#12,0.333333,0.666667,0.000000,0.030000,1,"
                             "0.020000,MainThread#11,0.010000,0.020000,"
                             "0.000000,1\r\n"));
  EXPECT_THAT(csv, HasSubstr("MainThread#11,0.666667,0.000000,0.333333,"
                             "0.030000,0,,,0.020000,0.000000,0.010000,0\r\n"));
  options = {"--rows", "waits", "--to", "10ms"};
  EXPECT_EQ(GilReport(run, options).out, "No thread waited for long.\n");
  TempFile file(run);
  options = {"offgil", file.path(), "--json", "--merge-threads"};
  options.insert(options.end(), range.begin(), range.end());
  const auto frames = nlohmann::json::parse(Report(options).out);
  EXPECT_DOUBLE_EQ(frames[0]["waiting_s"], 0.020);
  EXPECT_THAT(GilReport(run, {"--from", "2s", "--to", "1s"}).err,
              HasSubstr("--to: expected a moment after --from, found '"));
}

TEST(GilReportTest, ThePartOfTheTimeIsNoRun) {
  const std::string run = Contended().Build();
  EXPECT_THAT(GilReport(run, {}).out, HasSubstr(" of the run.\n"));
  EXPECT_THAT(GilReport(run, {"--from", "40ms"}).out,
              HasSubstr(" of the range.\n"));
  GilRun late;
  late.Add(At(20, 1, GIL_TAKEN)).Add(WithHold(At(60, 1, GIL_STATE), 0));
  const std::string begins_late = late.Build();
  for (const char* const to : {"10ms", "20ms"}) {
    const Printed empty = GilReport(begins_late, {"--to", to});
    EXPECT_EQ(empty.code, 0) << empty.err;
    EXPECT_EQ(empty.out, "");
    const std::string said =
        ": the range has no GIL times; the run has events from 0.020 s to "
        "0.060 s\n";
    EXPECT_THAT(empty.err, HasSubstr(said));
    EXPECT_THAT(GilReport(begins_late, {"--off", "--to", to}).err,
                HasSubstr(said));
  }
  const Printed csv = GilReport(begins_late, {"--to", "10ms", "--csv"});
  EXPECT_EQ(CsvLines(csv).size(), 1u);
  EXPECT_NE(csv.err, "");
  for (const char* const thread : {"Main*", ""}) {
    EXPECT_THAT(GilReport(begins_late, {"--thread", thread}).out,
                Not(HasSubstr("None.")));
  }
}

TEST(GilReportTest, SecondsAreSortedAsNumbers) {
  const std::string run = Contended().Build();
  const auto first = [&run](const std::string& sort) {
    const std::string text = GilReport(run, {"--sort", sort}).out;
    return text.substr(text.find("\n", text.find("thread  ")) + 1, 4);
  };
  EXPECT_EQ(first("held_s"), "Main");
  EXPECT_EQ(first("held_s:asc"), "work");
}

TEST(GilReportTest, WhatWasNotRecordedIsSaidBeforeTheRange) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.Flush();
  EXPECT_THAT(GilReport(sink.contents(), {"--from", "1s"}).err,
              AllOf(HasSubstr("has no GIL events"), Not(HasSubstr("--from"))));
}

TEST(GilReportTest, NamesOfStrangersAreMadeHarmless) {
  GilRun run;
  Record record;
  record.mutable_thread()->set_id(4);
  record.mutable_thread()->set_name("al\x1b[31m\n");
  record.mutable_thread()->set_native_id(14);
  run.AddRecord(record);
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(At(20, 4, GIL_WAITING))
      .Add(At(60, 4, GIL_TAKEN))
      .Add(WithHold(At(100, 4, GIL_STATE), 0));
  const Printed printed = GilReport(run.Build(), {});
  EXPECT_THAT(printed.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(printed.out, HasSubstr("1. al\\x1b[31m\\x0a#14 waited 40.0 ms"));
}

TEST(GilReportTest, WhoWaitsForWhomAndAtWhichLine) {
  const std::string run = Contended().Build();
  EXPECT_EQ(GilReport(run, {"--csv", "--rows", "blockers"}).out,
            "waiter,holder,waiting_s,share\r\n"
            "worker#12,MainThread#11,0.040000,1.000000\r\n");
  EXPECT_EQ(GilReport(run, {"--csv", "--rows", "places"}).out,
            "file,line,function,blocked_s,share,calls\r\n"
            "/app.py,31,work,0.040000,1.000000,json.loads\r\n");
  EXPECT_EQ(GilReport(run, {"--rows", "waits"}).out,
            "1. worker#12 waited 40.0 ms at 0.020 s for MainThread#11\n"
            "waiter: app.py:50 work\n"
            "holder: __init__.py:346 loads < app.py:31 work in json.loads\n");
  EXPECT_THAT(GilReport(run, {"--rows", "waits", "--sort", "wait_s"}).err,
              HasSubstr("--sort of waits needs --csv or --json"));
  EXPECT_EQ(GilReport(run, {"--rows", "waits", "--thread", "MainThread"}).out,
            "No thread waited for long.\n");
  const auto waits =
      nlohmann::json::parse(GilReport(run, {"--json", "--rows", "waits"}).out);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0]["holder"], "MainThread#11");
  EXPECT_EQ(waits[0]["waiter_stack"], "/app.py:50:work");
  EXPECT_EQ(waits[0]["holder_stack"],
            "/app.py:31:work;/usr/lib/python3.11/json/__init__.py:346:loads");
}

TEST(GilReportTest, EachInterpretersGilIsReckonedByItself) {
  const auto of = [](GilEvent event, uint32_t gil) {
    event.gil = gil;
    return event;
  };
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(of(At(10, 2, GIL_TAKEN), 3))
      .Add(of(At(20, 3, GIL_WAITING), 3))
      .Add(of(At(60, 3, GIL_TAKEN), 3))
      .Add(of(WithHold(At(100, 3, GIL_STATE), 10), 3))
      .Add(WithHold(At(100, 1, GIL_STATE), 0));
  const std::string file = run.Build();
  EXPECT_EQ(GilReport(file, {"--csv", "--rows", "gils"}).out,
            "interpreter,held_share,total_s,held_s,waiting_s,longest_wait_s,"
            "threads,takes,waits\r\n"
            "0,1.000000,0.100000,0.100000,0.000000,0.000000,1,1,0\r\n"
            "2,0.888889,0.090000,0.080000,0.040000,0.040000,2,2,1\r\n");
  // The main thread has another one.
  EXPECT_EQ(GilReport(file, {"--csv", "--rows", "blockers"}).out,
            "waiter,holder,waiting_s,share\r\n"
            "idle#13,worker#12,0.040000,1.000000\r\n");
  EXPECT_THAT(GilReport(file, {}).out, HasSubstr("Each interpreter's GIL:"));
}

// A C function that the own line called itself.
TEST(GilReportTest, CCodeThatHoldsItIsNamed) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(At(20, 2, GIL_WAITING))
      .Add(WithStack(At(60, 1, GIL_HOLDER), 1, 1))
      .Add(At(60, 2, GIL_TAKEN));
  EXPECT_THAT(GilReport(run.Build(), {}).out,
              HasSubstr("json.scanner.scan_once at app.py:31 holds it"));
}

TEST(GilReportTest, GivingWayIsWaitingForNobody) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(At(40, 1, GIL_GIVING_WAY))
      .Add(WithHold(At(50, 2, GIL_TAKEN), 10))
      .Add(At(50, 1, GIL_GAVE_WAY))
      .Add(WithHold(At(100, 2, GIL_STATE), 0));
  const auto rows =
      nlohmann::json::parse(GilReport(run.Build(), {"--json"}).out);
  EXPECT_EQ(rows[0]["thread"], "MainThread#11");
  EXPECT_EQ(rows[0]["held_s"], 0.04);
  EXPECT_EQ(rows[0]["waiting_s"], 0.01);
  EXPECT_EQ(rows[0]["without_s"], 0.05);
  EXPECT_EQ(rows[1]["held_s"], 0.05);
}

TEST(GilReportTest, AThreadThatEndedCountsUpToWhenItLetGo) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(WithHold(At(10, 2, GIL_TAKEN), 0))
      .Add(WithHold(At(40, 1, GIL_TAKEN), 10))
      .Add(At(90, 2, GIL_LEFT))
      .Add(WithHold(At(100, 1, GIL_STATE), 0));
  const auto rows =
      nlohmann::json::parse(GilReport(run.Build(), {"--json"}).out);
  EXPECT_EQ(rows[1]["thread"], "worker#12");
  EXPECT_EQ(rows[1]["held_s"], 0.02);
  EXPECT_EQ(rows[1]["total_s"], 0.02);
  EXPECT_EQ(rows[0]["held_s"], 0.07);
}

// As after kill -9: how it ended is unknown.
TEST(GilReportTest, WhoWaitedToTheEndWaitedUntilThen) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN)).Add(At(20, 2, GIL_WAITING));
  const auto rows =
      nlohmann::json::parse(GilReport(run.Build(), {"--json"}).out);
  EXPECT_EQ(rows[0]["thread"], "worker#12");
  EXPECT_EQ(rows[0]["waiting_s"], 0.08);
  EXPECT_EQ(rows[0]["longest_wait_for"], "MainThread#11");
  EXPECT_EQ(rows[1]["held_s"], 0.1);
}

TEST(GilReportTest, NoWaitingReadsAsGoodNews) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(WithHold(At(50, 2, GIL_TAKEN), 20))
      .Add(WithHold(At(60, 1, GIL_TAKEN), 0))
      .Add(WithHold(At(100, 1, GIL_STATE), 0));
  const std::string text = GilReport(run.Build(), {}).out;
  EXPECT_THAT(text, HasSubstr("The GIL delays no thread"));
  EXPECT_THAT(text, Not(HasSubstr("The longest waits")));
  GilRun alone;
  alone.Add(At(0, 1, GIL_TAKEN)).Add(WithHold(At(100, 1, GIL_STATE), 0));
  EXPECT_THAT(GilReport(alone.Build(), {}).out,
              HasSubstr("One thread ran Python: no thread waits for the GIL."));
}

TEST(GilReportTest, MoreHoldsThanAreRememberedAreSeveralThreads) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN)).Add(At(1, 3, GIL_WAITING));
  for (uint64_t ms = 2; ms <= 90; ++ms) run.Add(At(ms, 1 + ms % 2, GIL_TAKEN));
  run.Add(At(91, 3, GIL_TAKEN));
  const auto rows = nlohmann::json::parse(
      GilReport(run.Build(), {"--json", "--rows", "blockers"}).out);
  double sum = 0;
  bool forgotten = false;
  for (const auto& row : rows) {
    sum += row["waiting_s"].get<double>();
    forgotten |= row["holder"] == "<several threads>";
  }
  EXPECT_NEAR(sum, 0.09, 1e-9);
  EXPECT_TRUE(forgotten);
}

TEST(GilReportTest, AFileWithoutGilEventsSaysHowToRecordThem) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.Flush();
  const Printed printed = GilReport(sink.contents(), {});
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("has no GIL events: record them with "
                                     "pymemrun --trace gil"));
}

TEST(GilReportTest, ChoosesThreads) {
  const std::string run = Contended().Build();
  EXPECT_THAT(GilReport(run, {"--csv", "--thread", "worker"}).out,
              Not(HasSubstr("MainThread#11,0.5")));
  EXPECT_THAT(GilReport(run, {"--thread", "worker"}).out,
              AllOf(StartsWith("All threads: "),
                    HasSubstr("while others wait, of all threads:\n")));
  EXPECT_EQ(GilReport(run, {"--thread", "nobody"}).code, 2);
}

// Times of a hostile file: no sum is beyond the run, nothing overflows.
TEST(GilReportTest, SumsOfAnyFileStayWithinTheRun) {
  GilRun run;
  GilEvent event = At(10, 1, GIL_TAKEN);
  event.paused_ns = event.free_ns = event.pauses = uint64_t{1} << 56;
  for (uint64_t ms = 1; ms < 50; ++ms) {
    event.time_ns = ms * kMs;
    event.action = static_cast<GilAction>(ms % (GilAction_MAX + 1));
    event.thread = 1 + ms % 3;
    run.Add(event);
  }
  const auto rows =
      nlohmann::json::parse(GilReport(run.Build(false), {"--json"}).out);
  for (const auto& row : rows) {
    EXPECT_LE(row["held_s"].get<double>(), 0.05);
    EXPECT_LE(row["waiting_s"].get<double>(), 0.05);
    EXPECT_GE(row["without_s"].get<double>(), 0);
  }
}

}  // namespace
}  // namespace pymemrun
