// `pymemreport states`, and what it reckons with.
#include <string>
#include <vector>

#include "format/gil/gil_batch.h"
#include "format/states/state_batch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/report/pymemreport.h"
#include "readers/states/thread_times.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMs = 1000000;

// A run of 100 ms with two threads.
class StatesRun {
 public:
  explicit StatesRun(bool switches = true) : builder_(&sink_) {
    builder_.AddHeader(RunBuilder::DefaultHeader());
    builder_.AddThread("MainThread", 11);
    builder_.AddThread("worker", 12);
    Record record;
    StateRecording* const recording = record.mutable_state_recording();
    recording->set_switches(switches);
    if (!switches) recording->set_reason("perf_event_open: refused");
    builder_.AddRecord(record);
  }
  StatesRun& Step(uint64_t ms, uint32_t thread, StateAction action,
                  SleepReason reason = SLEEP_UNKNOWN,
                  const char* other = "") {
    states_.Append({ms * kMs, thread, action, reason, other});
    return *this;
  }
  StatesRun& Gil(uint64_t ms, uint32_t thread, GilAction action,
                 uint64_t free_ms = 0, uint64_t paused_ms = 0) {
    GilEvent event;
    event.time_ns = ms * kMs;
    event.thread = thread;
    event.action = action;
    event.free_ns = free_ms * kMs;
    event.paused_ns = paused_ms * kMs;
    gil_.Append(event);
    return *this;
  }
  StatesRun& Sched(uint64_t ms, uint32_t thread, uint64_t run_ms,
                   uint64_t runnable_ms, uint64_t voluntary = 0) {
    Record record;
    SchedBatch* const batch = record.mutable_sched();
    batch->set_time_us(ms * 1000);
    batch->add_thread(thread);
    batch->add_run_ns(run_ms * kMs);
    batch->add_runnable_ns(runnable_ms * kMs);
    batch->add_voluntary(voluntary);
    batch->add_preempted(0);
    sched_.push_back(record);
    return *this;
  }
  StatesRun& Lost(uint64_t switches) {
    states_.AddLost(switches);
    return *this;
  }
  StatesRun& CannotLook() {
    Record record;
    record.mutable_state_recording()->set_switches(true);
    record.mutable_state_recording()->set_cannot_look(true);
    builder_.AddRecord(record);
    return *this;
  }
  std::string Build() {
    Record record;
    if (gil_.entries() > 0) {
      gil_.Take(record.mutable_gil());
      builder_.AddRecord(record);
    }
    if (!states_.empty()) {
      states_.Take(record.mutable_states());
      builder_.AddRecord(record);
    }
    for (const Record& one : sched_) builder_.AddRecord(one);
    record.mutable_footer()->set_end_us(100000);
    builder_.AddRecord(record);
    builder_.Flush();
    return sink_.contents();
  }

 private:
  StringSink sink_;
  RunBuilder builder_;
  StateBatchEncoder states_;
  GilBatchEncoder gil_;
  std::vector<Record> sched_;
};

Printed StatesReport(const std::string& run,
                     std::vector<std::string> options = {}) {
  TempFile file(run);
  options.insert(options.begin(), {"states", file.path()});
  return Report(options);
}

// By thread: its row.
nlohmann::json RowsOf(const std::string& run) {
  const Printed printed = StatesReport(run, {"--json"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  nlohmann::json rows;
  for (const auto& row : nlohmann::json::parse(printed.out)) {
    rows[row["thread"].get<std::string>()] = row;
  }
  return rows;
}

// The main thread runs 50 ms with the GIL, 10 of them preempted, and then reads
// for 50 ms. The worker waits for the GIL meanwhile, has it for 20 ms, sleeps
// for 20 ms, and ends.
StatesRun TwoThreads() {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS)
      .Step(0, 2, STATE_BORN)
      .Step(5, 2, STATE_RUNS)
      .Step(10, 2, STATE_SLEEPS)
      .Step(15, 2, STATE_SEEN, SLEEP_LOCK)
      .Step(20, 1, STATE_PREEMPTED)
      .Step(30, 1, STATE_RUNS)
      .Step(50, 1, STATE_SLEEPS)
      .Step(50, 2, STATE_RUNS)
      .Step(55, 1, STATE_SEEN, SLEEP_IO)
      .Step(70, 2, STATE_SLEEPS)
      .Step(75, 2, STATE_SEEN, SLEEP_TIMER)
      .Step(90, 2, STATE_RUNS)
      .Step(90, 2, STATE_ENDED);
  run.Gil(0, 1, GIL_TAKEN)
      .Gil(10, 2, GIL_WAITING)
      .Gil(50, 2, GIL_TAKEN)
      .Gil(100, 2, GIL_STATE, 30);
  return run;
}

TEST(StatesReportTest, SwitchesAndTheGilTogetherMakeEachThreadsTimes) {
  const nlohmann::json rows = RowsOf(TwoThreads().Build());
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

TEST(StatesReportTest, TheSentenceAnswers) {
  const Printed printed = StatesReport(TwoThreads().Build());
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
      // Of this one it was not asked.
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
              HasSubstr("By schedstat, each 100 ms: what a sleep was for is "
                        "not known (perf_event_open: refused)."));
}

TEST(StatesReportTest, WhatWasLostOrRefusedIsSaid) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS).Step(1, 1, STATE_SLEEPS).Lost(1234).CannotLook();
  const std::string file = run.Build();
  const Printed printed = StatesReport(file);
  EXPECT_THAT(printed.out, HasSubstr("1,234 context switches found no room"));
  EXPECT_THAT(printed.out, HasSubstr("Nobody may ask"));
  EXPECT_TRUE(RowsOf(file)["MainThread#11"]["lock_s"].is_null());
}

TEST(StatesReportTest, AThreadCanBeChosen) {
  const Printed printed =
      StatesReport(TwoThreads().Build(), {"--thread", "worker", "--csv"});
  EXPECT_THAT(printed.out, HasSubstr("worker#12"));
  EXPECT_THAT(printed.out, Not(HasSubstr("MainThread")));
  EXPECT_EQ(StatesReport(TwoThreads().Build(), {"--thread", "nobody"}).code, 2);
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

TEST(ThreadTimesTest, HoldsThatOverlapAndTimesThatSinkKeepTheSum) {
  ThreadSteps steps;
  steps.Add(100, ThreadSteps::kRuns);
  steps.Add(50, ThreadSteps::kOther);  // sinks: counts as 100
  steps.Add(200, ThreadSteps::kRuns);
  const ThreadTimes times =
      TimesOf(steps, 300, {{0, 250, 0}, {210, 280, 1000}, {220, 20, 0}},
              {{90, 150, 0}, {120, 900, 0}});
  EXPECT_EQ(times.total_ns(), 200u);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kRunsWithGil)], 50u);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kRuns)], 50u);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kGil)], 100u);
}

TEST(ThreadTimesTest, NoMoreIsMovedThanThereIs) {
  ThreadTimes times;
  times.ns[static_cast<size_t>(ThreadState::kIo)] = 10;
  times.sleeps[static_cast<size_t>(ThreadState::kIo)] = 1;
  MoveToRunnable(1000, &times);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kIo)], 0u);
  EXPECT_EQ(times.ns[static_cast<size_t>(ThreadState::kRunnable)], 10u);
  MoveToRunnable(1000, &times);
  EXPECT_EQ(times.total_ns(), 10u);
}

}  // namespace
}  // namespace pymemrun
