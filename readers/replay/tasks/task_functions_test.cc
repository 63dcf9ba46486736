// What `pymemreport tasks` says of all tasks of a function.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/replay/tasks/task_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

// Ten handlers hold 1 MiB each, and main 2 MiB.
std::string Handlers(TaskAction end) {
  TaskRun run(HEAP_ALL);
  std::vector<HeapEvent> blocks;
  for (uint32_t task = 1; task <= 11; ++task) {
    const bool is_main = task == 11;
    run.Task(task, absl::StrCat("Task-", task), is_main ? 6 : 1)
        .Step(task, is_main ? TASK_WAITS : end, 10 * task, 10 * task + 5, 0,
              1000 * task);
    HeapEvent& block = blocks.emplace_back();
    block.time_us = 10000 * task + 1000;
    block.thread = 1;
    block.stack = is_main ? 6 : 2;
    block.size = is_main ? 2 << 20 : 1 << 20;
    block.address = uint64_t{task} << 24;
  }
  run.builder().AddHeap(blocks);
  return run.Build();
}

TEST(TaskFunctionsTest, SmallTasksOfOneFunctionAreAdded) {
  EXPECT_THAT(
      TaskReport(Handlers(TASK_WAITS), {}).out,
      HasSubstr("10 tasks of work allocated 10.0 MiB of what is alive"));
}

// Tasks that are done are not kept.
TEST(TaskFunctionsTest, FunctionsAddUpTasksThatAreDone) {
  const std::string run = Handlers(TASK_RAISED);
  const nlohmann::json rows = Rows(run, {"--by", "function"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["task"], "work");
  EXPECT_EQ(rows[0]["tasks"], 10);
  EXPECT_EQ(rows[0]["not_done"], 0);
  EXPECT_EQ(rows[0]["grown_bytes"], 55000);
  EXPECT_EQ(rows[0]["live_bytes"], 10 << 20);
  EXPECT_EQ(rows[0]["allocated_bytes"], 10 << 20);
  EXPECT_EQ(rows[1]["not_done"], 1);
  EXPECT_EQ(rows[1]["live_bytes"], 2 << 20);
  const std::string text = TaskReport(run, {"--by", "function"}).out;
  EXPECT_THAT(text, HasSubstr("11 tasks ran 11 steps"));
  EXPECT_THAT(text, HasSubstr("10 ended with an exception"));
  EXPECT_THAT(
      text, HasSubstr("10 tasks of work allocated 10.0 MiB of what is alive"));
}

}  // namespace
}  // namespace pymemrun
