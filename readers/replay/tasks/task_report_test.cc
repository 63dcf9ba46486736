// `pymemreport tasks`, and what it reckons with.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "format/timed/task_batch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/replay/tasks/task_replay.h"
#include "readers/replay/tasks/task_run_for_tests.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TaskRun TwoTasks() {
  TaskRun run;
  run.Task(1, "Task-1")
      .Task(2, "reader")
      .Step(1, TASK_WAITS, 10, 20, 4)
      .Step(2, TASK_WAITS, 20, 25, 2, 4096)
      .Step(1, TASK_DONE, 100, 282, 0, 1 << 20)
      .Step(2, TASK_WAITS, 300, 310, 3, -4096);
  return run;
}

TEST(TaskReportTest, EachTaskHasItsStepsTimesAndGrowth) {
  const nlohmann::json rows = Rows(TwoTasks().Build(), {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["task"], "Task-1 work");
  EXPECT_EQ(rows[0]["name"], "Task-1");
  EXPECT_EQ(rows[0]["coroutine"], "work");
  EXPECT_EQ(rows[0]["steps"], 2);
  EXPECT_DOUBLE_EQ(rows[0]["ran_s"], 0.192);
  EXPECT_DOUBLE_EQ(rows[0]["longest_ms"], 182);
  EXPECT_EQ(rows[0]["longest_at"], "app.py:12 to its end");
  EXPECT_EQ(rows[0]["grown_bytes"], 1 << 20);
  EXPECT_EQ(rows[0]["state"], "done");
  EXPECT_EQ(rows[1]["task"], "reader work");
  EXPECT_EQ(rows[1]["grown_bytes"], 0);
  EXPECT_EQ(rows[1]["longest_at"], "app.py:12 to :15");
  EXPECT_EQ(rows[1]["state"], "waits at app.py:15");
  EXPECT_TRUE(rows[1]["live_bytes"].is_null());
}

TEST(TaskReportTest, APartOfTheTime) {
  const std::string run = TwoTasks().Build();
  const nlohmann::json rows = Rows(run, {"--from", "15ms", "--to", "200ms"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["task"], "Task-1 work");
  EXPECT_EQ(rows[0]["steps"], 2);
  EXPECT_DOUBLE_EQ(rows[0]["ran_s"], 0.105);  // 5 of the first, 100 of the next
  EXPECT_EQ(rows[0]["not_done"], 1);
  EXPECT_DOUBLE_EQ(rows[1]["ran_s"], 0.005);
  const nlohmann::json late = Rows(run, {"--from", "290ms"});
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0]["task"], "reader work");
  EXPECT_EQ(TaskReport(run, {"--from", "1ms", "--at", "peak"}).code, 2);
}

TEST(TaskReportTest, TheSentencesNameWhoHeldTheLoopAndWhoGrew) {
  const Printed printed = TaskReport(TwoTasks().Build(), {});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("2 tasks ran 4 steps, 0.207 s in all; 1 is not done."));
  EXPECT_THAT(
      printed.out,
      HasSubstr(
          "Task-1 work held the event loop longest: 182.0 ms at 0.100 s"));
  EXPECT_THAT(printed.out, HasSubstr("1 other task was alive"));
  EXPECT_THAT(printed.out, HasSubstr("Task-1 work grew most: RSS rose by 1.0"));
}

TEST(TaskReportTest, NamesOfStrangersAreMadeHarmless) {
  TaskRun run;
  const uint32_t code = run.builder().AddCode("/a/\x1b[31m\n.py", "work", 10);
  const uint32_t stack = run.builder().AddStack(0, code, 12);
  run.Task(1, "\x1b[1mred" + std::string(200, 'x'), stack)
      .Step(1, TASK_WAITS, 0, 5, stack)
      .Step(1, TASK_WAITS, 10, 900, stack);
  const Printed printed = TaskReport(run.Build(), {});
  EXPECT_THAT(printed.out, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(printed.out, HasSubstr("\\x1b[1mredxxx"));
  EXPECT_THAT(printed.out, HasSubstr("ms at 0.010 s, \\x1b[31m\\x0a.py:12"));
  EXPECT_THAT(printed.out, HasSubstr("xx.. held the event loop longest"));
}

TEST(TaskReportTest, HowTasksEndedIsCounted) {
  const auto ended = [](std::vector<TaskAction> actions) {
    TaskRun run;
    uint32_t task = 0;
    for (const TaskAction action : actions) {
      ++task;
      run.Task(task, "").Step(task, action, task, task + 1);
    }
    return run.Build();
  };
  const std::string both = ended({TASK_RAISED, TASK_CANCELLED, TASK_DONE});
  const nlohmann::json rows = Rows(both, {});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["state"], "raised");
  EXPECT_EQ(rows[1]["state"], "cancelled");
  EXPECT_EQ(rows[2]["state"], "done");
  const nlohmann::json all = Rows(both, {"--by", "function"});
  EXPECT_EQ(all[0]["not_done"], 0);
  EXPECT_EQ(all[0]["raised"], 1);
  EXPECT_EQ(all[0]["cancelled"], 1);
  EXPECT_THAT(TaskReport(both, {}).out,
              HasSubstr("none is left.\n1 ended with an exception, 1 was "
                        "cancelled.\n"));
  const Printed cancelled =
      TaskReport(ended({TASK_CANCELLED, TASK_CANCELLED}), {});
  EXPECT_THAT(cancelled.out, HasSubstr("left.\n2 were cancelled.\n"));
  EXPECT_THAT(cancelled.out, HasSubstr("state"));
  EXPECT_THAT(
      TaskReport(ended({TASK_DONE}), {}).out,
      testing::Not(testing::AnyOf(HasSubstr("cancelled"),
                                  HasSubstr("exception"), HasSubstr("state"))));
}

// A call that takes less than half of the step does not stand for it.
TEST(TaskReportTest, ALongCallWithoutTheGilIsWhereTheStepWas) {
  const auto run = [](uint64_t blocked_ms) {
    TaskRun made;
    made.Task(1, "Task-1")
        .Step(1, TASK_WAITS, 0, 1, 4)
        .Step(1, TASK_BLOCKED, 110, 110 + blocked_ms, 5)
        .Step(1, TASK_BLOCKED, 190, 195, 3)
        .Step(1, TASK_WAITS, 100, 200, 3);
    return Rows(made.Build(), {})[0];
  };
  EXPECT_EQ(run(60)["longest_at"], "app.py:13");
  EXPECT_DOUBLE_EQ(run(60)["blocked_ms"], 60);
  EXPECT_EQ(run(40)["longest_at"], "app.py:12 to :15");
}

// It is no call that waits, which has no way.
TEST(TaskReportTest, AStepIsAWayAlsoToTheLineWhereItBegan) {
  TaskRun made;
  made.Task(1, "Task-1")
      .Step(1, TASK_WAITS, 0, 1, 2)
      .Step(1, TASK_WAITS, 10, 20, 2);
  EXPECT_EQ(Rows(made.Build(), {})[0]["longest_at"], "app.py:12 to :12");
}

// The end of a killed program is not known to a millisecond.
TEST(TaskReportTest, AStepThatTheEndCutOffSaysSo) {
  const auto run = [](uint64_t end_ms) {
    TaskRun made;
    made.Task(1, "Task-1")
        .Task(2, "Task-2")
        .Step(1, TASK_WAITS, 0, 1, 2)
        .Step(2, TASK_WAITS, 10, 15, 2)
        .Step(1, TASK_RUNS, 20, end_ms);
    return TaskReport(made.Build(), {}).out;
  };
  EXPECT_THAT(run(37), HasSubstr("Task-2 work held the event loop longest"));
  EXPECT_THAT(run(900),
              HasSubstr("Task-1 work held the event loop longest: 880.0 ms at "
                        "0.020 s, app.py:12, still"));
}

// gevent's, which waits until one of the others can go on.
TEST(TaskReportTest, WhatAHubWaitsForKeepsNobody) {
  TaskRun run;
  const uint32_t hub = run.builder().AddCode(
      "/usr/lib/python3/dist-packages/gevent/hub.py", "Hub.run", 600);
  Record record;
  record.mutable_task()->set_task(1);
  record.mutable_task()->set_name("greenlet-1");
  record.mutable_task()->set_stack(run.builder().AddStack(0, hub, 640));
  record.mutable_task()->set_kind(TASK_GREENLET);
  run.builder().AddRecord(record);
  run.Task(2, "greenlet-2")
      .Step(1, TASK_BLOCKED, 10, 40, 4)
      .Step(1, TASK_BLOCKED, 50, 90, 4)
      .Step(1, TASK_WAITS, 0, 100, 4)
      .Step(2, TASK_WAITS, 100, 140, 3);
  const nlohmann::json rows = Rows(run.Build(), {});
  EXPECT_EQ(rows[0]["name"], "greenlet-2");
  EXPECT_DOUBLE_EQ(rows[1]["ran_s"], 0.03);
}

// As eager tasks have.
TEST(TaskReportTest, AStepWithinAnotherIsNotCountedTwice) {
  TaskRun run;
  run.Task(1, "outer")
      .Task(2, "inner")
      .Step(2, TASK_DONE, 20, 50, 0, 3000)
      .Step(1, TASK_WAITS, 10, 60, 2, 10000);
  const nlohmann::json rows = Rows(run.Build(), {});
  EXPECT_EQ(rows[0]["task"], "inner work");
  EXPECT_DOUBLE_EQ(rows[0]["ran_s"], 0.03);
  EXPECT_DOUBLE_EQ(rows[1]["ran_s"], 0.02);
  EXPECT_EQ(rows[1]["grown_bytes"], 7000);
}

TEST(TaskReportTest, TasksOfOneCoroutineAreOneRow) {
  TaskRun run = TwoTasks();
  run.Task(3, "Task-3", 6).Step(3, TASK_RUNS, 900, 1000);
  const nlohmann::json rows = Rows(run.Build(), {"--by", "function"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["task"], "work");
  EXPECT_EQ(rows[0]["tasks"], 2);
  EXPECT_EQ(rows[0]["not_done"], 1);
  EXPECT_EQ(rows[0]["longest_task"], "Task-1 work");
  EXPECT_EQ(rows[1]["task"], "main");
}

TEST(TaskReportTest, RowsAreSortedAsAsked) {
  TaskRun made;
  made.Task(1, "long")
      .Task(2, "grows")
      .Task(3, "often")
      .Step(1, TASK_DONE, 0, 50)
      .Step(2, TASK_DONE, 50, 51, 0, 9000)
      .Step(3, TASK_WAITS, 60, 100, 2)
      .Step(3, TASK_WAITS, 100, 140, 2);
  const std::string run = made.Build();
  EXPECT_EQ(Rows(run, {})[0]["name"], "often");
  EXPECT_EQ(Rows(run, {"--sort", "longest"})[0]["name"], "long");
  EXPECT_EQ(Rows(run, {"--sort", "grown"})[0]["name"], "grows");
  EXPECT_EQ(Rows(run, {"--sort", "grown:desc"})[0]["name"], "grows");
  EXPECT_EQ(Rows(run, {"--sort", "time:asc"})[0]["name"], "grows");
  EXPECT_EQ(Rows(run, {"--sort", "longest:asc"})[0]["name"], "grows");
}

TEST(TaskReportTest, WhatTasksAllocatedIsKnownOfHeapEvents) {
  HeapEvent block;
  block.thread = 1;
  block.stack = 5;
  std::vector<HeapEvent> events;
  const auto allocate = [&](uint64_t ms, uint64_t address, uint64_t size) {
    block.time_us = ms * 1000;
    block.address = address;
    block.size = size;
    events.push_back(block);
  };
  TaskRun with_heap(HEAP_ALL);
  with_heap.Task(1, "Task-1").Task(2, "Task-2");
  allocate(5, 0x1000, 1);  // of no task
  allocate(15, 0x2000, 100);
  allocate(35, 0x3000, 7000);
  allocate(36, 0x4000, 500);
  HeapEvent freed;
  freed.is_free = true;
  freed.time_us = 50000;
  freed.thread = 1;
  freed.address = 0x4000;
  events.push_back(freed);
  with_heap.builder().AddHeap(events);
  with_heap.Step(1, TASK_WAITS, 10, 20, 2).Step(2, TASK_WAITS, 30, 40, 2);
  const std::string built = with_heap.Build();
  const nlohmann::json rows = Rows(built, {"--sort", "heap", "--at", "0.5"});
  EXPECT_EQ(rows[0]["name"], "Task-2");
  EXPECT_DOUBLE_EQ(rows[0]["live_bytes"], 7000);
  EXPECT_DOUBLE_EQ(rows[0]["allocated_bytes"], 7500);
  EXPECT_DOUBLE_EQ(rows[1]["live_bytes"], 100);
  TempFile file(built);
  const Printed by_task =
      Report({"heap", file.path(), "--by", "task", "--at", "0.5", "--csv"});
  EXPECT_EQ(by_task.code, 0) << by_task.err;
  EXPECT_THAT(by_task.out, HasSubstr("\r\nTask-2 work,7000"));
  EXPECT_THAT(by_task.out, HasSubstr("\r\nTask-1 work,100"));
  EXPECT_THAT(by_task.out, HasSubstr("\r\n<no task>,1"));
}

// Task-1 holds 28 MiB, and released as much of others. Other threads
// added memory while Task-2 ran.
TEST(TaskReportTest, WhatRssDidIsNoTasksWhereBlocksAreKnown) {
  for (const HeapMode heap : {HEAP_ALL, HEAP_OFF}) {
    TaskRun run(heap);
    run.Task(1, "Task-1").Task(2, "Task-2");
    if (heap == HEAP_ALL) {
      run.builder().AddHeap({AllocEvent(15000, 0x2000, 28 << 20, 2)});
    }
    run.Step(1, TASK_WAITS, 10, 20, 2, -(25 << 20))
        .Step(2, TASK_WAITS, 30, 40, 2, 50 << 20);
    const std::string built = run.Build();
    const std::string text = TaskReport(built, {}).out;
    const bool is_known = heap == HEAP_ALL;
    EXPECT_EQ(absl::StrContains(text, "-25"), !is_known) << text;
    EXPECT_EQ(absl::StrContains(text, "grew most"), !is_known) << text;
    EXPECT_THAT(TaskReport(built, {"--sort", "grown"}).out, HasSubstr("-25"));
    EXPECT_EQ(Rows(built, {})[0]["grown_bytes"], -(25 << 20));
    if (!is_known) continue;
    EXPECT_THAT(text, HasSubstr("Task-1 work allocated 28.0 MiB of what is"));
    EXPECT_THAT(text, HasSubstr("28.0 MiB   28.0 MiB"));
  }
}

TEST(TaskReportTest, ARunWithoutStepsIsRefused) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.Flush();
  const Printed printed = TaskReport(sink.contents(), {});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err,
              HasSubstr("has no steps of tasks: record them with pymemrun "
                        "--trace tasks"));
}

TEST(TaskReportTest, StepsThatFoundNoRoomAreSaid) {
  TaskRun run = TwoTasks();
  Record record;
  record.mutable_task_recording()->set_lost(3);
  run.builder().AddRecord(record);
  EXPECT_THAT(TaskReport(run.Build(), {}).out,
              HasSubstr("3 steps lost: sums are too low."));
}

// In a hostile file: numbers of tasks and definitions without sense.
TEST(TaskReportTest, AnyNumberIsATask) {
  TaskRun run;
  run.Task(~0u, "last", 77).Step(~0u, TASK_DONE, 0, 5);
  run.Step(4000000000u, TASK_DONE, 1, 5, 0, kMaxTaskBytes);
  run.Step(4000000000u, TASK_DONE, 1, 6, 0, kMaxTaskBytes);
  // What goes on after it was done is another task.
  EXPECT_EQ(Rows(run.Build(), {}).size(), 3u);
}

// Names are then read again, only for the tasks that are shown.
TEST(TaskReportTest, OfVeryManyTasksThoseThatAreShownHaveTheirNames) {
  constexpr uint32_t kTasks = 66000;
  TaskRun run;
  for (uint32_t task = 1; task <= kTasks; ++task) {
    run.Task(task, absl::StrCat("job-", task))
        .Step(task, TASK_DONE, task, task + (task == kTasks - 1 ? 9 : 1));
  }
  const std::string file = run.Build();
  const std::string text = TaskReport(file, {"--limit", "1"}).out;
  EXPECT_THAT(text, HasSubstr("\njob-65999 work"));
  EXPECT_THAT(text, HasSubstr("65,999 more tasks not shown"));
  EXPECT_THAT(TaskReport(file, {"--csv"}).out, HasSubstr("\njob-66000 work,"));
}

TEST(TaskReportTest, ATaskThatIsNamedAsItsCoroutineIsPrintedOnce) {
  TaskRun run;
  run.Task(7, "work").Step(7, TASK_DONE, 0, 300, 2);
  const std::string text = TaskReport(run.Build(), {}).out;
  EXPECT_THAT(text, HasSubstr("work held the event loop longest"));
  EXPECT_THAT(text, Not(HasSubstr("work work")));
}

TEST(TaskReportTest, WhatIsOnTheHeapSortsARunThatTellsIt) {
  const std::string run = TwoTasks().Build();
  const Printed text = TaskReport(run, {"--sort", "heap"});
  EXPECT_EQ(text.code, 2);
  EXPECT_EQ(text.out, "");
  EXPECT_THAT(text.err, HasSubstr("has no heap events: record them with "));
  // CSV has the column, without values.
  EXPECT_EQ(TaskReport(run, {"--sort", "heap", "--csv"}).code, 0);
}

TEST(TaskReportTest, ARangeWithoutStepsIsSaid) {
  const std::string run = TwoTasks().Build();
  const Printed text = TaskReport(run, {"--from", "290ms", "--to", "295ms"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, "");
  EXPECT_THAT(text.err, testing::EndsWith(
                            ": the range has no steps of tasks; the run has "
                            "events from 0.020 s to 0.310 s\n"));
  EXPECT_EQ(TaskReport(run, {"--from", "290ms", "--to", "295ms", "--json"}).out,
            "[\n]\n");
}

TEST(TaskReportTest, TasksAreChosenByNameAndSortedByColumn) {
  const std::string run = TwoTasks().Build();
  const nlohmann::json one = Rows(run, {"--task", "read*"});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["task"], "reader work");
  EXPECT_EQ(Rows(run, {"--sort", "task:desc"})[0]["task"], "reader work");
  EXPECT_EQ(Rows(run, {"--task", "Task-1"})[0]["task"], "Task-1 work");
  EXPECT_THAT(TaskReport(run, {"--task", "read*"}).out,
              testing::StartsWith("All tasks: 2 tasks "));
  EXPECT_THAT(TaskReport(run, {"--task", "nobody"}).err,
              HasSubstr("--task 'nobody' leaves no row"));
  const Printed wrong = TaskReport(run, {"--sort", "weight"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err,
              HasSubstr("--sort: expected time, longest, grown, heap, task, "));
  EXPECT_THAT(wrong.err, HasSubstr(", or one with :asc or :desc, found "));
}

}  // namespace
}  // namespace pymemrun
