#include "readers/replay/current_task/task_steps_reader.h"

#include <algorithm>
#include <memory>
#include <string>

#include "format/timed/task_batch.h"
#include "gtest/gtest.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

constexpr uint32_t kRounds = 100000;
constexpr uint64_t kRoundUs = 1000;

// In each round one thread runs a task, and within it another one; a second
// thread runs a third.
std::string RunOfRounds() {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddThread("MainThread", 11);
  builder.AddThread("loop", 12);
  const uint32_t code = builder.AddCode("/a/app.py", "work", 10);
  builder.AddStack(0, code, 10);
  builder.AddStack(0, code, 12);
  TaskBatchEncoder steps;
  const auto add = [&steps](uint32_t thread, uint32_t task, uint64_t begin_us,
                            uint64_t end_us) {
    steps.Append({end_us * 1000, thread, task, TASK_DONE,
                  (end_us - begin_us) * 1000, 0, 0});
  };
  for (uint32_t i = 0; i < kRounds; ++i) {
    const uint64_t at = i * kRoundUs;
    for (uint32_t task = 3 * i + 1; task <= 3 * i + 3; ++task) {
      Record record;
      record.mutable_task()->set_task(task);
      record.mutable_task()->set_stack(1 + task % 2);
      builder.AddRecord(record);
    }
    add(1, 3 * i + 1, at + 200, at + 300);
    add(1, 3 * i + 2, at + 100, at + 400);
    add(2, 3 * i + 3, at + 100, at + 500);
    Record record;
    steps.Take(record.mutable_tasks());
    builder.AddRecord(record);
  }
  builder.Flush();
  return sink.contents();
}

class TaskStepsReaderTest : public testing::Test {
 protected:
  void Read(TaskStepsReader* steps) {
    int code = kExitOk;
    ASSERT_TRUE(ReadTaskSteps(file_.get(), steps, &code));
  }

  const TempFile path_{RunOfRounds()};
  const Console console_{"test", nullptr};
  const std::unique_ptr<RereadFile> file_ =
      RereadFile::Open(path_.path(), console_);
};

TEST_F(TaskStepsReaderTest, KeepsTheStepsAroundTheTimeAndNoOthers) {
  TaskStepsReader steps(file_.get());
  Read(&steps);
  size_t most = 0;
  // The second time it begins anew.
  for (const uint32_t step : {1, 7}) {
    for (uint32_t i = 0; i < kRounds; i += step) {
      const uint64_t at = i * kRoundUs;
      ASSERT_EQ(steps.TaskAt(1, at + 50), 0u) << i;
      ASSERT_EQ(steps.TaskAt(1, at + 150), 3 * i + 2) << i;
      ASSERT_EQ(steps.TaskAt(1, at + 250), 3 * i + 1) << i;
      ASSERT_EQ(steps.TaskAt(2, at + 450), 3 * i + 3) << i;
      ASSERT_EQ(steps.TaskAt(1, at + 350), 3 * i + 2) << i;
      most = std::max(most, steps.steps_kept());
    }
  }
  EXPECT_GT(most, 1000u);
  EXPECT_LT(most, kRounds);
}

TEST_F(TaskStepsReaderTest, TellsFunctionsOfTasksThatAreLongDone) {
  TaskStepsReader steps(file_.get());
  steps.LeaveNames();
  steps.TellFunctions();
  Read(&steps);
  for (uint32_t i = 0; i < kRounds; i += 97) {
    const uint64_t at = i * kRoundUs;
    ASSERT_EQ(steps.TaskAt(1, at + 250), 1 + (3 * i + 1) % 2) << i;
    ASSERT_EQ(steps.TaskAt(2, at + 250), 1 + (3 * i + 3) % 2) << i;
    ASSERT_EQ(steps.TaskAt(2, at + 550), 0u) << i;
  }
}

}  // namespace
}  // namespace pymemrun
