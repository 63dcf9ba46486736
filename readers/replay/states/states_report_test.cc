// `pymemreport states`, and what it reckons with.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/replay/states/state_replay.h"
#include "readers/replay/states/thread_times.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/states_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Printed StatesReport(const std::string& run,
                     std::vector<std::string> options = {}) {
  TempFile file(run);
  options.insert(options.begin(), {"states", file.path()});
  return Report(options);
}

// By thread: its row.
nlohmann::json RowsOf(const std::string& run,
                      std::vector<std::string> options = {}) {
  options.push_back("--json");
  const Printed printed = StatesReport(run, options);
  EXPECT_EQ(printed.code, 0) << printed.err;
  nlohmann::json rows;
  for (const auto& row : nlohmann::json::parse(printed.out)) {
    rows[row["thread"].get<std::string>()] = row;
  }
  return rows;
}

TEST(StatesReportTest, SwitchesAndTheGilTogetherMakeEachThreadsTimes) {
  const nlohmann::json rows = RowsOf(TwoStateThreads().Build());
  const auto& main = rows["MainThread#11"];
  EXPECT_DOUBLE_EQ(main["running_gil_s"], 0.040);
  EXPECT_DOUBLE_EQ(main["running_s"], 0.0);
  EXPECT_DOUBLE_EQ(main["runnable_s"], 0.010);
  EXPECT_DOUBLE_EQ(main["io_s"], 0.050);
  EXPECT_DOUBLE_EQ(main["total_s"], 0.100);
  EXPECT_EQ(main["preempted"], 1);
  EXPECT_EQ(main["voluntary"], 1);
  const auto& worker = rows["worker#12"];
  EXPECT_DOUBLE_EQ(worker["running_gil_s"], 0.020);
  EXPECT_DOUBLE_EQ(worker["running_s"], 0.005);
  EXPECT_DOUBLE_EQ(worker["runnable_s"], 0.005);
  EXPECT_DOUBLE_EQ(worker["gil_s"], 0.040);
  EXPECT_DOUBLE_EQ(worker["lock_s"], 0.0);
  EXPECT_DOUBLE_EQ(worker["sleep_s"], 0.020);
  EXPECT_DOUBLE_EQ(worker["total_s"], 0.090);
  EXPECT_EQ(worker["voluntary"], 2);
}

// The times and the switches of each thread.
std::vector<uint64_t> AmountsOf(const std::string& run,
                                const TimeRange& range = {}) {
  StateReplay replay;
  replay.SetRange(range);
  StringSource source(run);
  ReadResult result;
  EXPECT_TRUE(ReadStream(&source, {}, &replay, &result).ok());
  replay.Finish();
  std::vector<uint64_t> amounts;
  for (const ThreadStates& states : replay.states()) {
    const StateNanos& ns = states.times.ns;
    amounts.insert(amounts.end(), ns.begin(), ns.end());
    amounts.push_back(states.voluntary);
    amounts.push_back(states.preempted);
  }
  return amounts;
}

// What threads waited for a CPU is read behind most of these times.
TEST(StatesReportTest, PartsOfTheTimeAddUpToAllOfIt) {
  StatesRun exact = TwoStateThreads();
  exact.Sched(40, 1, 20, 15).Sched(99, 1, 40, 47).Sched(99, 2, 24, 21);
  StatesRun counted(/*switches=*/false);
  counted.Sched(10, 1, 5, 1, 1).Sched(30, 2, 0, 0).Sched(50, 1, 37, 30, 3);
  counted.Sched(50, 2, 13, 30, 2).Sched(99, 1, 62, 33, 8).Sched(99, 2, 25, 35);
  counted.Gil(0, 1, GIL_TAKEN)
      .Gil(13, 2, GIL_WAITING)
      .Gil(47, 2, GIL_TAKEN, 1, 3)
      .Gil(100, 2, GIL_STATE, 30, 7);
  for (const std::string& run : {exact.Build(), counted.Build()}) {
    const std::vector<uint64_t> all = AmountsOf(run);
    EXPECT_EQ(all.size(), 3 * (kThreadStates + 2));  // the first is no thread
    for (const uint64_t parts : {2, 3, 17, 1000}) {
      std::vector<uint64_t> sums(all.size());
      TimeRange range;
      for (uint64_t part = 1; part <= parts; ++part) {
        range.begin_ns = part == 1 ? 0 : range.end_ns;
        range.end_ns = part == parts ? ~uint64_t{0} : 100000000 * part / parts;
        const std::vector<uint64_t> amounts = AmountsOf(run, range);
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += amounts[i];
      }
      EXPECT_EQ(sums, all) << parts << " parts";
    }
  }
}

TEST(StatesReportTest, WaitsForACpuCountWhereTheyWereReadLater) {
  StatesRun exact;
  exact.Step(0, 1, STATE_SLEEPS).Step(50, 1, STATE_RUNS).Sched(90, 1, 40, 20);
  EXPECT_DOUBLE_EQ(
      RowsOf(exact.Build(), {"--to", "60ms"})["MainThread#11"]["runnable_s"],
      0.020);
  // Only the scheduler counts: evenly, from one reading of all threads to the
  // next one that had more.
  StatesRun counted(/*switches=*/false);
  counted.Sched(0, 1, 0, 0).Sched(0, 2, 0, 0).Sched(50, 2, 1, 0);
  counted.Sched(90, 1, 10, 20);
  const std::string run = counted.Build();
  const auto runnable = [&run](const std::string& to) {
    return RowsOf(run, {"--to", to})["MainThread#11"]["runnable_s"]
        .get<double>();
  };
  EXPECT_DOUBLE_EQ(runnable("50ms"), 0);
  EXPECT_DOUBLE_EQ(runnable("60ms"), 0.005);
  EXPECT_DOUBLE_EQ(runnable("95ms"), 0.020);
}

TEST(StatesReportTest, TheSentenceAnswers) {
  const Printed printed = StatesReport(TwoStateThreads().Build());
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("2 threads: ran 34 % of the time (32 % "
                                     "with the GIL), wanted a CPU for 7.9 %"));
  EXPECT_THAT(printed.out, HasSubstr("for I/O 26 %"));
  EXPECT_THAT(printed.out, HasSubstr("S(GIL)"));
  EXPECT_THAT(printed.out, Not(HasSubstr("schedstat")));
}

TEST(StatesReportTest, WithoutTheGilItsColumnsAreUnknown) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS).Step(40, 1, STATE_SLEEPS);
  const std::string file = run.Build();
  const nlohmann::json rows = RowsOf(file);
  const auto& main = rows["MainThread#11"];
  EXPECT_TRUE(main["running_gil_s"].is_null());
  EXPECT_TRUE(main["gil_share"].is_null());
  EXPECT_DOUBLE_EQ(main["running_s"], 0.040);
  EXPECT_DOUBLE_EQ(main["other_s"], 0.060);
  EXPECT_THAT(StatesReport(file).out, HasSubstr("--trace gil,states"));
}

TEST(StatesReportTest, WhatAThreadWantedACpuForAfterSleepsIsTakenFromThem) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS)
      .Step(10, 1, STATE_SLEEPS)
      .Step(15, 1, STATE_SEEN, SLEEP_IO)
      .Step(50, 1, STATE_RUNS)
      .Step(60, 1, STATE_PREEMPTED)
      .Step(70, 1, STATE_RUNS);
  // 10 ms are known, 6 more are the scheduler's.
  run.Sched(90, 1, 40, 16);
  const nlohmann::json rows = RowsOf(run.Build());
  const auto& main = rows["MainThread#11"];
  EXPECT_DOUBLE_EQ(main["runnable_s"], 0.016);
  EXPECT_DOUBLE_EQ(main["io_s"], 0.034);
  EXPECT_DOUBLE_EQ(main["running_s"], 0.050);
}

TEST(StatesReportTest, ASleepOfAnotherKindHasItsCallsName) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS)
      .Step(10, 1, STATE_SLEEPS)
      .Step(15, 1, STATE_SEEN, SLEEP_OTHER, "wait4")
      .Step(60, 1, STATE_RUNS)
      // This one was not asked for.
      .Step(80, 1, STATE_SLEEPS);
  const std::string file = run.Build();
  EXPECT_THAT(StatesReport(file).out, HasSubstr("Slept in: wait4 0.05 s.\n"));
  const nlohmann::json rows = RowsOf(file);
  EXPECT_DOUBLE_EQ(rows["MainThread#11"]["other_s"], 0.070);
}

TEST(StatesReportTest, CountsOfTheSchedulerStandInForSwitches) {
  StatesRun run(/*switches=*/false);
  run.Sched(0, 1, 0, 0).Sched(50, 1, 20, 5, 3).Sched(90, 1, 30, 10, 7);
  run.Step(40, 2, STATE_BORN).Step(80, 2, STATE_ENDED);
  run.Sched(70, 2, 10, 10);
  const std::string file = run.Build();
  const nlohmann::json rows = RowsOf(file);
  const auto& main = rows["MainThread#11"];
  EXPECT_DOUBLE_EQ(main["running_s"], 0.030);
  EXPECT_DOUBLE_EQ(main["runnable_s"], 0.010);
  EXPECT_DOUBLE_EQ(main["other_s"], 0.060);
  EXPECT_TRUE(main["io_s"].is_null());
  EXPECT_EQ(main["voluntary"], 7);
  const auto& worker = rows["worker#12"];
  EXPECT_DOUBLE_EQ(worker["total_s"], 0.040);
  EXPECT_DOUBLE_EQ(worker["other_s"], 0.020);
  EXPECT_THAT(StatesReport(file).out,
              HasSubstr("From schedstat, every 100 ms: the reason for a sleep "
                        "is not known (perf_event_open: refused)."));
}

TEST(StatesReportTest, WhatWasLostOrRefusedIsSaid) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS).Step(1, 1, STATE_SLEEPS).Lost(1234).CannotLook();
  const std::string file = run.Build();
  const Printed printed = StatesReport(file);
  EXPECT_THAT(printed.out, HasSubstr("1,234 context switches lost"));
  EXPECT_THAT(printed.out, HasSubstr("pymemrun may not see why"));
  EXPECT_TRUE(RowsOf(file)["MainThread#11"]["lock_s"].is_null());
}

TEST(StatesReportTest, AThreadCanBeChosen) {
  const Printed printed =
      StatesReport(TwoStateThreads().Build(), {"--thread", "worker", "--csv"});
  EXPECT_THAT(printed.out, HasSubstr("worker#12"));
  EXPECT_THAT(printed.out, Not(HasSubstr("MainThread")));
  EXPECT_EQ(
      StatesReport(TwoStateThreads().Build(), {"--thread", "nobody"}).code, 2);
}

TEST(StatesReportTest, ARunWithoutStatesSaysHowToRecordThem) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  Record record;
  record.mutable_footer()->set_end_us(10);
  builder.AddRecord(record);
  builder.Flush();
  const Printed printed = StatesReport(sink.contents());
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("record them with pymemrun --trace "
                                     "states"));
}

// "with GIL 0-50 had 40": what had the GIL of a span. "?": it is estimated.
std::vector<std::string> SpansOf(const ThreadSteps& steps, uint64_t end_ns,
                                 std::vector<GilPart> holds,
                                 std::vector<GilPart> waits,
                                 const std::vector<SchedReading>& readings,
                                 ThreadTimes* times) {
  static constexpr const char* kNames[kThreadStates] = {
      "with GIL", "runs", "wants", "S(GIL)", "lock",
      "I/O",      "time", "page",  "other"};
  std::vector<std::string> spans;
  const auto take = [&](const StateSpan& span) {
    times->Add(span, {});
    spans.push_back(absl::StrCat(
        kNames[static_cast<size_t>(span.state)], " ", span.begin_ns, "-",
        span.end_ns, span.is_estimated ? "?" : "",
        span.gil_ns > 0 ? absl::StrCat(" had ", span.gil_ns) : ""));
  };
  EachSpan(steps, end_ns, std::move(holds), std::move(waits), readings, take);
  return spans;
}

TEST(ThreadTimesTest, HoldsThatOverlapAndTimesThatSinkKeepTheSum) {
  ThreadSteps steps;
  steps.Add(100, ThreadSteps::kRuns);
  steps.Add(50, ThreadSteps::kOther);  // sinks: counts as 100
  steps.Add(200, ThreadSteps::kRuns);
  ThreadTimes times;
  EXPECT_THAT(
      SpansOf(steps, 300, {{0, 250, 0}, {210, 280, 1000}, {220, 20, 0}},
              {{90, 150, 0}, {120, 900, 0}}, {}, &times),
      ElementsAre("S(GIL) 100-200", "with GIL 200-250 had 50", "runs 250-300"));
  EXPECT_EQ(times.total_ns(), 200u);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kRunsWithGil)], 50u);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kRuns)], 50u);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kGil)], 100u);
}

TEST(ThreadTimesTest, PausesOfAHoldAreSpreadOverTheTimeThatItRan) {
  ThreadSteps steps;
  steps.Add(0, ThreadSteps::kRuns);
  steps.Add(30, ThreadSteps::kIo);
  steps.Add(60, ThreadSteps::kRuns);
  ThreadTimes times;
  // It ran for 70 of the hold, and can have had the GIL for 20 of them.
  EXPECT_THAT(
      SpansOf(steps, 100, {{0, 100, 80}}, {}, {}, &times),
      ElementsAre("runs 0-30 had 8", "I/O 30-60", "runs 60-100 had 12"));
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kRunsWithGil)], 20u);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kRuns)], 50u);
}

TEST(ThreadTimesTest, AWaitTakesItsPartOfASleep) {
  ThreadSteps steps;
  steps.Add(0, ThreadSteps::kLock);
  steps.Add(100, ThreadSteps::kRuns);
  ThreadTimes times;
  EXPECT_THAT(SpansOf(steps, 110, {}, {{20, 50, 0}, {50, 60, 0}, {90, 105, 0}},
                      {}, &times),
              ElementsAre("lock 0-20", "S(GIL) 20-60", "lock 60-90",
                          "S(GIL) 90-100", "runs 100-110"));
}

TEST(ThreadTimesTest, SleepsThatEndedHaveTheSamePartOfWhatTheSchedulerCounts) {
  ThreadSteps steps;
  steps.Add(0, ThreadSteps::kIo);
  steps.Add(100, ThreadSteps::kRunnable);
  steps.Add(110, ThreadSteps::kIo);
  steps.Add(115, ThreadSteps::kRuns);
  steps.Add(120, ThreadSteps::kTimer);
  ThreadTimes times;
  // 10 are known. Of 25 more the second sleep can have 5.
  EXPECT_THAT(SpansOf(steps, 200, {}, {}, {{200, 35}}, &times),
              ElementsAre("I/O 0-80", "wants 80-100?", "wants 100-110",
                          "wants 110-115?", "runs 115-120", "time 120-200"));
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kRunnable)], 35u);
}

TEST(ThreadTimesTest, WhatWasCountedBetweenReadingsIsOfTheSleepsThere) {
  ThreadSteps steps;
  steps.Add(0, ThreadSteps::kIo);
  steps.Add(100, ThreadSteps::kRuns);
  steps.Add(110, ThreadSteps::kIo);
  steps.Add(210, ThreadSteps::kRuns);
  steps.Add(220, ThreadSteps::kIo);
  steps.Add(320, ThreadSteps::kRuns);
  ThreadTimes times;
  EXPECT_THAT(SpansOf(steps, 330, {}, {},
                      {{0, 0}, {105, 20}, {215, 20}, {325, 50}}, &times),
              ElementsAre("I/O 0-80", "wants 80-100?", "runs 100-110",
                          "I/O 110-210", "runs 210-220", "I/O 220-290",
                          "wants 290-320?", "runs 320-330"));
}

TEST(ThreadTimesTest, AReadingThatIsLateIsMadeUpForByTheNext) {
  ThreadSteps steps;
  steps.Add(0, ThreadSteps::kRunnable);
  steps.Add(50, ThreadSteps::kRuns);
  steps.Add(60, ThreadSteps::kIo);
  steps.Add(160, ThreadSteps::kRuns);
  ThreadTimes times;
  // 50 of the 80 that are counted are known, which the first reading lacks.
  EXPECT_THAT(SpansOf(steps, 170, {}, {}, {{55, 10}, {165, 80}}, &times),
              ElementsAre("wants 0-50", "runs 50-60", "I/O 60-130",
                          "wants 130-160?", "runs 160-170"));
}

TEST(ThreadTimesTest, NoMoreIsTakenFromSleepsThanTheyHave) {
  ThreadSteps steps;
  steps.Add(0, ThreadSteps::kIo);
  steps.Add(10, ThreadSteps::kGone);
  ThreadTimes times;
  EXPECT_THAT(SpansOf(steps, 100, {}, {}, {{100, 1000}}, &times),
              ElementsAre("wants 0-10?"));
  EXPECT_EQ(times.total_ns(), 10u);
}

TEST(StatesReportTest, SortsByAnyColumn) {
  const std::string run = TwoStateThreads().Build();
  const auto first = [&run](const std::string& by) {
    const Printed printed = StatesReport(run, {"--csv", "--sort", by});
    return CsvLines(printed).at(1).substr(0, 4);
  };
  EXPECT_NE(first("thread"), first("thread:desc"));
  EXPECT_EQ(StatesReport(run, {"--sort", "weight"}).code, 2);
}

TEST(StatesReportTest, AColumnThatIsNotKnownOfTheRunSortsNothing) {
  StatesRun run(/*switches=*/false);
  run.Sched(0, 1, 0, 0).Sched(50, 1, 20, 5, 3);
  const std::string file = run.Build();
  const Printed refused = StatesReport(file, {"--sort", "lock"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("--sort: expected thread, running_share, "
                                     "runnable_share, other_share, total_s, "));
  // CSV has the column, without values.
  EXPECT_EQ(StatesReport(file, {"--sort", "lock", "--csv"}).code, 0);
  EXPECT_EQ(StatesReport(file, {"--sort", "other"}).code, 0);
}

TEST(StatesReportTest, ARangeWithoutStatesIsSaid) {
  StatesRun run;
  run.Step(20, 1, STATE_RUNS).Step(60, 1, STATE_SLEEPS);
  const std::string file = run.Build();
  const Printed text = StatesReport(file, {"--to", "10ms"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, "");
  EXPECT_THAT(text.err, testing::EndsWith(
                            ": the range has no states of threads; the run has "
                            "events from 0.020 s to 0.060 s\n"));
  EXPECT_EQ(CsvLines(StatesReport(file, {"--to", "10ms", "--csv"})).size(), 1u);
  EXPECT_EQ(StatesReport(file, {"--to", "10ms", "--json"}).out, "[\n]\n");
}

}  // namespace
}  // namespace pymemrun
