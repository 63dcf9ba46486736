#include "readers/pictures/lanes/thread_lanes.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/timed/task_batch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/call_run_for_tests.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Labels(const LaneChart& chart) {
  std::vector<std::string> labels;
  for (const LaneChart::Lane& lane : chart.lanes) labels.push_back(lane.label);
  return labels;
}

// A second, and several threads: the later, the longer they ran.
class ThreadLanesTest : public ::testing::Test {
 protected:
  uint32_t Add(uint32_t id, const std::string& name, uint64_t busy_us,
               const std::string& function = "work") {
    const uint32_t track = levels_.AddThread({id, id, name});
    SliceName own;
    own.kind = SliceName::kOwn;
    own.name = function;
    own.file = "/a/app.py";
    own.line = 7;
    levels_.Begin(track, 0, levels_.AddName(own));
    levels_.End(track, busy_us, {});
    return track;
  }
  LaneChart Chart(size_t most) {
    levels_.Finish();
    return ThreadLanes(levels_, most);
  }

  LaneLevels levels_{1000000, kReadColumns};
};

TEST_F(ThreadLanesTest, ThoseThatDidMostAreShownInTheOrderOfTheirBegin) {
  Add(1, "MainThread", 900000);
  Add(2, "short", 100000);
  Add(3, "long", 800000);
  Add(4, "middle", 500000);
  const LaneChart chart = Chart(2);
  EXPECT_THAT(Labels(chart),
              ElementsAre("MainThread", "long", "2 more threads"));
  EXPECT_EQ(chart.lanes[2].detail, "0.600 s");
  ASSERT_GT(chart.lanes[2].bars.size(), 200u);
  EXPECT_EQ(chart.lanes[2].bars[10].height, 1);
  EXPECT_EQ(chart.lanes[2].bars[200].height, 0.5);
}

TEST_F(ThreadLanesTest, ThreadsThatAreNotWantedAreOneLane) {
  levels_.KeepThreads([](uint32_t thread) { return thread == 2; });
  Add(1, "MainThread", 900000, "serve");
  Add(2, "worker", 100000);
  Add(3, "other", 800000);
  const LaneChart chart = Chart(8);
  EXPECT_THAT(Labels(chart), ElementsAre("worker", "2 more threads"));
  // What the functions of the worker came to there.
  ASSERT_EQ(chart.keys.size(), 1u);
  EXPECT_EQ(chart.keys[0].label, "work  app.py:7");
  EXPECT_EQ(chart.keys[0].detail, "0.100 s");
}

TEST_F(ThreadLanesTest, FunctionsHaveColoursAndKeys) {
  Add(1, "MainThread", 250000);
  const LaneChart chart = Chart(8);
  ASSERT_EQ(chart.keys.size(), 1u);
  EXPECT_EQ(chart.keys[0].label, "work  app.py:7");
  EXPECT_EQ(chart.keys[0].detail, "0.250 s");
  ASSERT_EQ(chart.lanes[0].pieces.size(), 2u);
  EXPECT_EQ(chart.lanes[0].pieces[0].color, chart.keys[0].color);
  EXPECT_EQ(chart.lanes[0].pieces[0].last, LaneChart::kColumns / 4 - 1);
}

TEST_F(ThreadLanesTest, LanesBesideAThreadStandBelowIt) {
  const uint32_t track = Add(1, "MainThread", 250000);
  Add(2, "worker", 250000);
  SliceName waits;
  waits.name = "waits";
  const uint32_t beside = levels_.AddLane(track, "lock");
  levels_.Begin(beside, 0, levels_.AddName(waits));
  levels_.End(beside, 1000, {});
  const LaneChart chart = Chart(8);
  EXPECT_THAT(Labels(chart), ElementsAre("MainThread", "lock", "worker"));
  EXPECT_TRUE(chart.lanes[1].beside);
  EXPECT_EQ(chart.keys[0].label, "waits");
}

TEST_F(ThreadLanesTest, WhereThatIsAllItHasTheThreadsName) {
  const uint32_t track = levels_.AddThread({1, 1, "MainThread"});
  levels_.AddThread({2, 2, "idle"});
  SliceName waits;
  waits.name = "waits";
  const uint32_t beside = levels_.AddLane(track, "lock");
  levels_.Begin(beside, 0, levels_.AddName(waits));
  levels_.End(beside, 500000, {});
  EXPECT_THAT(Labels(Chart(8)), ElementsAre("MainThread"));
}

// Two threads that hold and wait; one more that waits alone.
TEST_F(ThreadLanesTest, OfOtherThreadsThoseThatDoSomethingAreCounted) {
  SliceName holds, waits;
  holds.name = "holds";
  holds.color = "#123456";
  waits.name = "waits";
  waits.is_idle = true;
  for (uint32_t id = 1; id <= 3; ++id) {
    const uint32_t track = levels_.AddThread({id, id, "worker"});
    const uint32_t beside = levels_.AddLane(track, "lock");
    if (id < 3) {
      levels_.Begin(beside, 0, levels_.AddName(holds));
      levels_.End(beside, 100000 * id, {});
    }
    levels_.Begin(beside, 500000, levels_.AddName(waits));
    levels_.End(beside, 1000000, {});
  }
  const LaneChart chart = Chart(1);
  EXPECT_THAT(Labels(chart), ElementsAre("worker", "2 more threads"));
  EXPECT_THAT(chart.colors, ::testing::Contains("#123456"));
  EXPECT_EQ(chart.keys[0].label, "holds");
  // The second one's hold, and no wait.
  ASSERT_FALSE(chart.lanes[1].bars.empty());
  EXPECT_LT(chart.lanes[1].bars.back().column, LaneChart::kColumns / 5);
}

TEST_F(ThreadLanesTest, BarsEndWithThePicture) {
  const uint32_t track = Add(1, "MainThread", 1000);
  levels_.Grow(track, 999999, LaneLevels::kLibraryCode, 4096);
  const LaneChart chart = Chart(8);
  ASSERT_EQ(chart.lanes[0].bars.size(), 1u);
  const LaneChart::Bar& bar = chart.lanes[0].bars[0];
  EXPECT_EQ(bar.column + bar.columns, LaneChart::kColumns);
  EXPECT_EQ(bar.height, 1);
}

TEST(TimelineThreadsTest, DrawsCallsOfThreads) {
  CallRun run;
  const Printed printed = Busy(&run).Report({"timeline", "--threads"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr(">MainThread</text>"));
  EXPECT_THAT(printed.out, HasSubstr(">Thread-6</text>"));
  EXPECT_THAT(printed.out, HasSubstr("d  lib.py:40"));
  EXPECT_THAT(printed.out, Not(HasSubstr("bars:")));
}

TEST(TimelineThreadsTest, OfAPartAndOfSomeThreads) {
  CallRun run;
  Busy(&run);
  const Printed part = run.Report({"timeline", "--threads", "--from", "50%",
                                   "--to", "exit", "--thread", "Thread-6"});
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_THAT(part.out, HasSubstr(">Thread-6</text>"));
  EXPECT_THAT(part.out, Not(HasSubstr(">MainThread</text>")));
  EXPECT_THAT(part.out, Not(HasSubstr(">0</text>")));
  const Printed late = run.Report({"timeline", "--threads", "--from", "99"});
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.err, HasSubstr("--from: 99.000 s is not before the run's "
                                  "end, "));
  const Printed none = run.Report({"timeline", "--threads", "--thread", "x"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("found 'x'"));
}

TEST(TimelineThreadsTest, DrawsAllocationsWhereNothingElseIsKnown) {
  TempFile file(HeapRun().Build());
  const Printed printed = Report({"timeline", file.path(), "--threads"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("bars: memory that the thread allocated"));
  EXPECT_THAT(printed.out, HasSubstr("load  job.py:"));
  const Printed empty =
      Report({"timeline", file.path(), "--threads", "--to", "1us"});
  EXPECT_EQ(empty.code, 2);
  EXPECT_THAT(empty.err, HasSubstr(": the range has no events of threads; the "
                                   "run has them from 0."));
}

// Ten tasks that ran one after the other, each longer than the one before, and
// this many that ran longer in another thread.
std::string TasksRun(uint32_t in_other_thread = 0) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddThread("MainThread", 11);
  builder.AddThread("loop", 12);
  builder.AddStack(0, builder.AddCode("/app.py", "work", 1), 1);
  TaskBatchEncoder steps;
  for (uint32_t task = 1; task <= 10 + in_other_thread; ++task) {
    Record record;
    record.mutable_task()->set_task(task);
    record.mutable_task()->set_name(absl::StrCat("t", task));
    record.mutable_task()->set_stack(1);
    builder.AddRecord(record);
    steps.Append({task * 100000000, task > 10 ? 2u : 1u, task, TASK_WAITS,
                  task * 1000000, 0, 0});
  }
  Record record;
  steps.Take(record.mutable_tasks());
  builder.AddRecord(record);
  builder.Flush();
  return sink.contents();
}

TEST(TimelineThreadsTest, DrawsStepsOfTasksAndSaysWhichAreNotToldApart) {
  TempFile file(TasksRun());
  const Printed printed = Report({"timeline", file.path(), "--threads"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr(">MainThread</text>"));
  const size_t most = printed.out.find(">t10 work: steps of this task</text>");
  const size_t others =
      printed.out.find(">other tasks: 2 that ran less than those above</text>");
  ASSERT_NE(most, std::string::npos);
  ASSERT_NE(others, std::string::npos);
  EXPECT_LT(most, printed.out.find(">t3 work: steps of this task</text>"));
  EXPECT_LT(printed.out.find(">t3 work: steps of this task</text>"), others);
  EXPECT_THAT(printed.out, Not(HasSubstr(">t2 work")));
}

TEST(TimelineThreadsTest, TasksOfTheThreadsThatAreShownHaveTheNames) {
  TempFile file(TasksRun(5));
  const Printed all = Report({"timeline", file.path(), "--threads"});
  EXPECT_THAT(all.out, HasSubstr(">other tasks: 7 that ran less"));
  const Printed one =
      Report({"timeline", file.path(), "--threads", "--thread", "MainThread"});
  EXPECT_THAT(one.out, HasSubstr(">t3 work: steps of this task</text>"));
  EXPECT_THAT(one.out, HasSubstr(">other tasks: 2 that ran less"));
  EXPECT_THAT(one.out, Not(HasSubstr(">t15 work")));
}

TEST(TimelineThreadsTest, ARunThatTellsNothingOfThreadsIsRefused) {
  CallRun run(4);
  const Printed printed = run.Report({"timeline", "--threads"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("what threads did was not recorded"));
}

TEST(TimelineThreadsTest, OptionsOfPlacesAreRefused) {
  CallRun run;
  Printed printed = run.Report({"timeline", "--threads", "--by", "line"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("--by line does not go with --threads"));
  printed = run.Report({"timeline", "--threads", "--format", "csv"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err,
              HasSubstr("--threads does not go with --format csv"));
}

}  // namespace
}  // namespace pymemrun
