#include "readers/testing/hostile_task_builder.h"

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/timed/task_batch.h"

namespace pymemrun {
namespace {

void Write(TaskBatchEncoder* steps, HostileRun* run) {
  Record record;
  steps->Take(record.mutable_tasks());
  run->builder().AddRecord(record);
}

}  // namespace

void TaskSteps(uint64_t count, HostileRun* run) {
  const uint32_t chain = run->AddChain(kMaxStackNodes - 1);
  const uint32_t thread = run->builder().AddThread("t", 1);
  TaskBatchEncoder steps;
  const uint64_t middle_ns = (count + 1) * 2000;
  for (uint64_t i = 1; i <= count; ++i) {
    const auto task = static_cast<uint32_t>(i);
    TaskEvent step;
    step.stack = run->AddStack(chain, task);
    Record record;
    record.mutable_task()->set_task(task);
    record.mutable_task()->set_name(absl::StrCat("task", i));
    record.mutable_task()->set_stack(step.stack);
    run->builder().AddRecord(record);
    // The inner one ends first.
    step.time_ns = middle_ns + i * 2000;
    step.lasted_ns = i * 4000;
    step.thread = thread;
    step.task = task;
    step.action = i % 2 == 0 ? TASK_BLOCKED : TASK_WAITS;
    step.grown_bytes = i % 3 == 0 ? kMaxTaskBytes : -kMaxTaskBytes;
    steps.Append(step);
    if (steps.entries() >= TaskBatchEncoder::kMaxEntries) Write(&steps, run);
  }
  Write(&steps, run);
}

}  // namespace pymemrun
