#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/pictures/lanes/thread_lanes.h"
#include "readers/replay/moments/moment.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/states_run_for_tests.h"
#include "readers/tracks/lines_sink_for_tests.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class StateSourceTest : public ::testing::Test {
 protected:
  std::vector<std::string> Lines(StatesRun* run) {
    TempFile path(run->Build());
    const auto file = RereadFile::Open(path.path(), console_);
    LinesSink sink;
    const auto source = NewStateSource(options_);
    EXPECT_TRUE(source->Give(file.get(), &sink));
    notes_ = source->Notes();
    return sink.lines();
  }

  const Console console_{"test", nullptr};
  SourceOptions options_;
  std::vector<std::string> notes_;
};

TEST_F(StateSourceTest, SwitchesAndTheGilMakeOneLaneOfEachThread) {
  StatesRun run = TwoStateThreads();
  EXPECT_THAT(
      Lines(&run),
      ElementsAre("thread MainThread", "lane state of 1",
                  "begin 2 0 runs with the GIL", "end 2 20000",
                  "begin 2 20000 wants a CPU", "end 2 30000",
                  "begin 2 30000 runs with the GIL", "end 2 50000",
                  "begin 2 50000 S(I/O)", "end 2 100000", "thread worker",
                  "lane state of 3", "begin 4 0 wants a CPU", "end 4 5000",
                  "begin 4 5000 runs without the GIL", "end 4 10000",
                  "begin 4 10000 S(GIL)", "end 4 50000",
                  "begin 4 50000 runs with the GIL", "end 4 70000",
                  "begin 4 70000 S(time)", "end 4 90000"));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(StateSourceTest, ShorterStatesAreLeftOutAndCounted) {
  StatesRun run = TwoStateThreads();
  options_.min_us = 20000;
  Lines(&run);
  EXPECT_THAT(notes_, ElementsAre("6 of 9 states of threads written; the "
                                  "others were shorter than 20 ms "
                                  "(--min-duration)"));
}

TEST_F(StateSourceTest, WhatIsKnownInSumIsSaidOfSlices) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS)
      .Step(40, 1, STATE_SLEEPS)
      .Step(45, 1, STATE_SEEN, SLEEP_OTHER, "wait4")
      .Step(80, 1, STATE_RUNS);
  // It was without the GIL for 70 of 100 ms, and ran for 60 of these 100.
  run.Gil(0, 1, GIL_TAKEN).Gil(100, 1, GIL_STATE, 0, 70);
  run.Sched(90, 1, 50, 10);
  EXPECT_THAT(
      Lines(&run),
      ElementsAre("thread MainThread", "lane state of 1",
                  "begin 2 0 runs without the GIL", "end 2 40000 had 20000",
                  "begin 2 40000 S(wait4)", "end 2 70000",
                  "begin 2 70000 wants a CPU", "end 2 80000 estimated",
                  "begin 2 80000 runs without the GIL",
                  "end 2 100000 had 10000"));
}

TEST_F(StateSourceTest, PicturesHaveTheSumsOfTheReport) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS).Step(40, 1, STATE_SLEEPS);
  run.Gil(0, 1, GIL_TAKEN).Gil(100, 1, GIL_STATE, 0, 70);
  TempFile path(run.Build());
  const Printed printed = Report({"timeline", path.path(), "--threads"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("state: S(other) 0.060 s, runs with the "
                                     "GIL 0.030 s, runs without the GIL "
                                     "0.010 s"));
}

TEST_F(StateSourceTest, PicturesHaveOneColourForOtherSleeps) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS)
      .Step(40, 1, STATE_SLEEPS)
      .Step(45, 1, STATE_SEEN, SLEEP_OTHER, "wait4");
  options_.for_picture = true;
  EXPECT_THAT(
      Lines(&run),
      ElementsAre("thread MainThread", "lane state of 1", "begin 2 0 runs",
                  "end 2 40000", "begin 2 40000 S(other)", "end 2 100000"));
}

TEST_F(StateSourceTest, TheSchedulersCountsSayForHowLongAndNotWhen) {
  StatesRun run(/*switches=*/false);
  run.Sched(0, 1, 0, 0).Sched(50, 1, 20, 5).Sched(70, 2, 10, 10);
  run.Sched(90, 1, 30, 10);
  EXPECT_THAT(Lines(&run),
              ElementsAre("thread MainThread", "lane ran, by schedstat of 1",
                          "begin 2 0 ran for a part of this time",
                          "end 2 50000 ran 20000 wanted 5000", "thread worker",
                          "lane ran, by schedstat of 3",
                          "begin 4 50000 ran for a part of this time",
                          "end 4 70000 ran 10000 wanted 10000",
                          "begin 2 70000 ran for a part of this time",
                          "end 2 90000 ran 10000 wanted 5000"));
  EXPECT_THAT(
      notes_,
      ElementsAre("states of threads by schedstat: a slice shows for how long "
                  "a thread ran, not when (perf_event_open: refused)"));
}

TEST_F(StateSourceTest, CountsBeyondTheirTimeGoToTheNext) {
  StatesRun run(/*switches=*/false);
  run.Sched(0, 1, 0, 0).Sched(10, 1, 15, 0).Sched(30, 1, 12, 0);
  EXPECT_THAT(Lines(&run),
              ElementsAre("thread MainThread", "lane ran, by schedstat of 1",
                          "begin 2 0 ran for a part of this time",
                          "end 2 10000 ran 10000",
                          "begin 2 10000 ran for a part of this time",
                          "end 2 30000 ran 2000"));
}

TEST_F(StateSourceTest, SwitchesThatWereLostAreSaid) {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS).Lost(1234);
  Lines(&run);
  EXPECT_THAT(
      notes_,
      ElementsAre(
          "1,234 context switches lost: states of threads are not exact"));
}

TEST_F(StateSourceTest, AFileWithoutItsEndEndsWithTheLastOfThem) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddThread("MainThread", 11);
  StateBatchEncoder states;
  states.Append({1000000, 1, STATE_RUNS, SLEEP_UNKNOWN, ""});
  states.Append({7000000, 1, STATE_SLEEPS, SLEEP_UNKNOWN, ""});
  Record record;
  states.Take(record.mutable_states());
  builder.AddRecord(record);
  builder.Flush();
  TempFile path(sink.contents());
  const auto file = RereadFile::Open(path.path(), console_);
  EXPECT_EQ(LastMomentOf(file.get()), 7000u);
}

// Seconds by thread and state, of a timeline as Chrome's JSON.
nlohmann::json SumsOf(const std::string& trace) {
  nlohmann::json names, sums;
  const nlohmann::json parsed = nlohmann::json::parse(trace);
  for (const auto& event : parsed["traceEvents"]) {
    const std::string tid = std::to_string(event["tid"].get<int64_t>());
    if (event["name"] == "thread_name") {
      names[tid] = event["args"]["name"];
    }
    if (event["ph"] != "X") continue;
    auto& sum = sums[names[tid].get<std::string>()];
    if (sum.is_null()) sum = nlohmann::json::object();
    const auto add = [&](const std::string& name, int64_t us) {
      sum[name] = sum.value(name, int64_t{0}) + us;
    };
    add(event["name"], event["dur"].get<int64_t>());
    add("let go", event["args"].value("let_go_us", int64_t{0}));
    add("had", event["args"].value("had_gil_us", int64_t{0}));
  }
  return sums;
}

TEST_F(StateSourceTest, ATimelineHasTheSumsOfTheReport) {
  TempFile file(TwoStateThreads().Build());
  const Printed printed = Report(
      {"export", file.path(), "--format", "chrome", "--min-duration", "0"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const nlohmann::json worker = SumsOf(printed.out)["worker: state"];
  EXPECT_EQ(worker["runs with the GIL"], 20000);
  EXPECT_EQ(worker["runs without the GIL"], 5000);
  EXPECT_EQ(worker["S(GIL)"], 40000);
  EXPECT_EQ(worker["let go"], 0);
}

TEST_F(StateSourceTest, APictureHasALaneAndALegend) {
  TempFile file(TwoStateThreads().Build());
  const Printed printed = Report({"timeline", file.path(), "--threads"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr(">worker</text>"));
  EXPECT_THAT(printed.out, HasSubstr("S(GIL): sleeps until the GIL is free"));
  EXPECT_THAT(printed.out, HasSubstr("state: S(GIL) 0.040 s"));
  EXPECT_THAT(printed.out, Not(HasSubstr("S(lock)")));
}

TEST_F(StateSourceTest, BarsAreAsHighAsThePartThatTheSchedulerCounted) {
  LaneLevels levels(100000, kReadColumns);
  StatesRun run(/*switches=*/false);
  run.Sched(0, 1, 0, 0).Sched(100, 1, 25, 0);
  TempFile path(run.Build());
  const auto file = RereadFile::Open(path.path(), console_);
  ASSERT_TRUE(ReadLanes(file.get(), &levels));
  const LaneChart chart = ThreadLanes(levels, 8);
  ASSERT_EQ(chart.lanes.size(), 1u);
  EXPECT_TRUE(chart.lanes[0].pieces.empty());
  ASSERT_EQ(chart.lanes[0].bars.size(), 1u);
  EXPECT_NEAR(chart.lanes[0].bars[0].height, 0.25, 0.001);
  EXPECT_EQ(chart.lanes[0].bars[0].columns, LaneChart::kColumns);
}

}  // namespace
}  // namespace pymemrun
