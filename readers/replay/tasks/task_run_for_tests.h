// Runs with steps of tasks, and reports of them. For tests only.
#ifndef PYMEMRUN_READERS_REPLAY_TASKS_TASK_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_REPLAY_TASKS_TASK_RUN_FOR_TESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "format/timed/task_batch.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {

inline constexpr uint64_t kMs = 1000000;

// Stacks: 1 the coroutine work, 2 to 4 where it stands, 5 a call below 3, 6 the
// coroutine main.
class TaskRun {
 public:
  explicit TaskRun(HeapMode heap = HEAP_OFF) : builder_(&sink_) {
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(heap);
    builder_.AddHeader(header);
    builder_.AddThread("MainThread", 11);
    builder_.AddThread("loop", 12);
    const uint32_t work = builder_.AddCode("/a/app.py", "work", 10);
    const uint32_t sleep =
        builder_.AddCode("/usr/lib/python3.11/asyncio/tasks.py", "sleep", 600);
    const uint32_t run = builder_.AddCode("/a/app.py", "main", 40);
    builder_.AddStack(0, work, 10);
    builder_.AddStack(0, work, 12);
    builder_.AddStack(0, work, 15);
    builder_.AddStack(2, sleep, 640);
    builder_.AddStack(0, work, 13);
    builder_.AddStack(0, run, 40);
    Record record;
    record.mutable_task_recording()->set_min_blocked_ns(kMs);
    builder_.AddRecord(record);
  }
  TaskRun& Task(uint32_t task, const std::string& name, uint32_t stack = 1) {
    Record record;
    record.mutable_task()->set_task(task);
    record.mutable_task()->set_name(name);
    record.mutable_task()->set_stack(stack);
    builder_.AddRecord(record);
    return *this;
  }
  TaskRun& Step(uint32_t task, TaskAction action, uint64_t begin_ms,
                uint64_t end_ms, uint32_t stack = 0, int64_t grown = 0,
                uint32_t thread = 1) {
    steps_.Append({end_ms * kMs, thread, task, action,
                   (end_ms - begin_ms) * kMs, grown, stack});
    return *this;
  }
  RunBuilder& builder() { return builder_; }
  std::string Build() {
    Record record;
    steps_.Take(record.mutable_tasks());
    builder_.AddRecord(record);
    Record footer;
    footer.mutable_footer()->set_end_us(1000000);
    builder_.AddRecord(footer);
    builder_.Flush();
    return sink_.contents();
  }

 private:
  StringSink sink_;
  RunBuilder builder_;
  TaskBatchEncoder steps_;
};

inline Printed TaskReport(const std::string& run,
                          std::vector<std::string> options) {
  TempFile file(run);
  options.insert(options.begin(), {"tasks", file.path()});
  return Report(options);
}

inline nlohmann::json Rows(const std::string& run,
                           std::vector<std::string> options) {
  options.push_back("--json");
  const Printed printed = TaskReport(run, options);
  EXPECT_EQ(printed.code, 0) << printed.err;
  return nlohmann::json::parse(printed.out);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_TASKS_TASK_RUN_FOR_TESTS_H_
