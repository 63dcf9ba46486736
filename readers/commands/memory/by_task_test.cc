// `top --by task` and `resident --by task`.
#include <string>
#include <vector>

#include "format/timed/task_batch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/mapping_events_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Task 1, "a work", has a step from 10 to 20 ms, task 2, "b work", one from 30
// to 40 ms, both on MainThread. There is one more thread.
class TaskRun {
 public:
  explicit TaskRun(const Header& header) : builder_(&sink_) {
    builder_.AddHeader(header);
    builder_.AddThread("MainThread", 1);
    builder_.AddThread("other", 2);
    const uint32_t code = builder_.AddCode("/job.py", "work", 1);
    builder_.AddStack(0, code, 2);
    builder_.AddSite(RETURN, code, 2);
    builder_.AddMapping("/usr/bin/python3.11");
  }
  static Header WithPages() {
    Header header = RunBuilder::DefaultHeader();
    header.set_page_period(1);
    header.set_first_rss_bytes(0);
    return header;
  }
  // 10 pages of a beside 4 of the other thread; 2 between the steps; then b
  // releases 5 of the first, and adds 3.
  void AddPages() {
    builder_.AddPages(CamePages(15000, 1000, 10, 1));
    builder_.AddPages(CamePages(16000, 2000, 4, 1, 2));
    builder_.AddPages(CamePages(25000, 3000, 2, 1));
    builder_.AddPages({RangeEntry(31000, PAGES_UNMAPPED, 1000, 5)});
    builder_.AddPages(CamePages(35000, 4000, 3, 1));
    builder_.AddProcess(50000, 14 * kPage, 16 * kPage);
  }
  void AddSteps() {
    TaskBatchEncoder steps;
    for (const uint32_t task : {1, 2}) {
      Record record;
      record.mutable_task()->set_task(task);
      record.mutable_task()->set_name(task == 1 ? "a" : "b");
      record.mutable_task()->set_stack(1);
      builder_.AddRecord(record);
      steps.Append({task * 20000000, 1, task, TASK_WAITS, 10000000, 0, 1});
    }
    Record record;
    steps.Take(record.mutable_tasks());
    builder_.AddRecord(record);
    record.Clear();
    record.mutable_task_recording();
    builder_.AddRecord(record);
  }
  RunBuilder& builder() { return builder_; }
  std::string Build() {
    builder_.Flush();
    return sink_.contents();
  }
  Printed Report(std::vector<std::string> options) {
    TempFile file(Build());
    options.insert(options.begin() + 1, file.path());
    return pymemrun::Report(options);
  }

 private:
  StringSink sink_;
  RunBuilder builder_;
};

Printed PagesByTask(std::vector<std::string> options) {
  TaskRun run(TaskRun::WithPages());
  run.AddSteps();
  run.AddPages();
  return run.Report(std::move(options));
}

TEST(ByTaskTest, GrowthIsOfTheTaskWhoseStepBroughtThePages) {
  const Printed printed = PagesByTask({"top", "--by", "task", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("task,growth_bytes,shrinkage_bytes,net_bytes,rows,share"
                        "\r\na work,40960,0,40960,0,0.526316\r\n"
                        "<no task>,24576,0,24576,0,0.315789\r\n"
                        "b work,12288,20480,-8192,0,0.157895\r\n"));
  EXPECT_THAT(PagesByTask({"top", "--by", "task"}).out,
              HasSubstr("pages added in steps of a task"));
}

TEST(ByTaskTest, ThreadsThatAreNotKeptAreSummedUp) {
  const std::string out =
      PagesByTask({"top", "--by", "task", "--thread", "MainThread", "--csv"})
          .out;
  EXPECT_THAT(out, HasSubstr("\r\n<no task>,8192,0,8192,0,"));
  EXPECT_THAT(out, HasSubstr("\r\n<other threads>,16384,0,16384,0,"));
}

TEST(ByTaskTest, WithoutPageFaultsTheRowsOfStepsTell) {
  Header header = RunBuilder::DefaultHeader();
  header.set_first_rss_bytes(kPage);
  TaskRun run(header);
  run.AddSteps();
  Row in_other = MakeRow(2, 36000, 1, 11 * kPage, 2 * kPage);
  in_other.thread = 2;
  run.builder().AddRow(MakeRow(0, 15000, 1, 8 * kPage, 8 * kPage));
  run.builder().AddRow(MakeRow(1, 35000, 1, 9 * kPage, kPage));
  run.builder().AddRow(in_other);
  const Printed printed = run.Report({"top", "--by", "task", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("\r\na work,28672,0,28672,1,0.700000\r\n"
                                     "<no task>,8192,0,8192,1,0.200000\r\n"
                                     "b work,4096,0,4096,1,0.100000\r\n"));
}

TEST(ByTaskTest, OfSeveralRunsTasksOfOneNameAreOneRow) {
  TaskRun run(TaskRun::WithPages());
  run.AddSteps();
  run.AddPages();
  TaskRun again(TaskRun::WithPages());
  again.AddSteps();
  again.AddPages();
  TempFile second(again.Build());
  EXPECT_THAT(run.Report({"top", second.path(), "--by", "task", "--csv"}).out,
              HasSubstr("\r\na work,81920,0,81920,0,"));
}

TEST(ByTaskTest, ResidentPagesAreOfTheTaskThatBroughtThem) {
  const Printed printed =
      PagesByTask({"resident", "--by", "task", "--at", "exit", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("task,resident_bytes,pages,share,inferred_bytes\r\n"
                        "<no task>,24576,6,0.428571,0\r\n"
                        "a work,20480,5,0.357143,0\r\n"
                        "b work,12288,3,0.214286,0\r\n"));
  EXPECT_THAT(
      PagesByTask({"resident", "--by", "task", "--at", "exit", "--collapsed"})
          .out,
      HasSubstr("a work;work (/job.py:2) 20480\n"));
}

TEST(ByTaskTest, BlocksInPagesAreOfTheTaskThatAllocatedThem) {
  Header header = TaskRun::WithPages();
  header.set_heap(HEAP_ALL);
  TaskRun run(header);
  run.AddSteps();
  run.AddPages();
  HeapEvent block;
  block.time_us = 39000;
  block.thread = 1;
  block.stack = 1;
  block.address = 1006 * kPage;  // a's page
  block.size = 1000;
  run.builder().AddHeap({block});
  const Printed printed = run.Report(
      {"resident", "--by", "task", "--owner", "heap", "--at", "exit", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("\r\na work,16384,0,"));
  EXPECT_THAT(printed.out, HasSubstr("\r\nb work,13288,1000,"));
  EXPECT_THAT(run.Report({"resident", "--by", "task", "--owner", "heap", "--at",
                          "exit", "--collapsed"})
                  .out,
              HasSubstr("b work;work (/job.py:2) 13288\n"));
}

// One stack maps 8 pages in a step of each task: a touches all, b three.
TEST(ByTaskTest, WhatIsMappedIsOfTheTaskThatMappedIt) {
  Header header = TaskRun::WithPages();
  header.set_heap(HEAP_ALL);
  header.set_heap_native(true);
  TaskRun run(header);
  run.AddSteps();
  run.builder().AddHeap({MapEvent(11000, 5000 * kPage, 8 * kPage, 1),
                         MapEvent(31000, 6000 * kPage, 8 * kPage, 1),
                         AllocEvent(45000, 1, 1, 1)});
  run.builder().AddPages(CamePages(15000, 5000, 8, 1));
  run.builder().AddPages(CamePages(35000, 6000, 3, 1));
  run.builder().AddProcess(50000, 11 * kPage, 11 * kPage);
  const Printed printed = run.Report(
      {"heap", "--by", "task", "--reserved", "--at", "end", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("mapped_bytes\r\n"
                                     "a work,32768,1,0.500000,32768\r\n"
                                     "b work,32768,1,0.500000,12288\r\n"));
}

TEST(ByTaskTest, ARunWithoutStepsIsRefused) {
  for (const char* command : {"top", "resident"}) {
    TaskRun run(TaskRun::WithPages());
    run.AddPages();
    const Printed printed = run.Report({command, "--by", "task"});
    EXPECT_EQ(printed.code, 2);
    EXPECT_EQ(printed.out, "");
    EXPECT_THAT(printed.err, HasSubstr("has no steps of tasks: record "
                                       "them with pymemrun --trace tasks"));
  }
}

TEST(ByTaskTest, ARunWithoutGrowthIsRefused) {
  Header header = RunBuilder::DefaultHeader();
  header.set_calls_off(true);
  TaskRun run(header);
  run.AddSteps();
  const Printed printed = run.Report({"top", "--by", "task"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err,
              HasSubstr("has no calls or page faults: record them with "
                        "pymemrun --trace calls,pages"));
}

}  // namespace
}  // namespace pymemrun
