#include "format/timed/task_batch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

absl::Status CheckActions(const TaskBatch& batch) {
  for (const int action : batch.action()) {
    if (!TaskAction_IsValid(action)) {
      return WrongColumn("tasks.action", absl::StrCat("0 to ", TaskAction_MAX),
                         action);
    }
  }
  return absl::OkStatus();
}

// The found value is made positive for the message without overflow: the lowest
// number has no positive counterpart.
absl::Status CheckGrowth(const TaskBatch& batch) {
  for (const int64_t grown : batch.grown_bytes()) {
    if (grown > kMaxTaskBytes || grown < -kMaxTaskBytes) {
      return WrongColumn(
          "tasks.grown_bytes", absl::StrCat("at most ", kMaxTaskBytes),
          static_cast<uint64_t>(grown < 0 ? -(grown + 1) : grown));
    }
  }
  return absl::OkStatus();
}

}  // namespace

// Readers refuse a batch with a value beyond a limit. One odd value must not
// cost the whole batch, so it is cut.
void TaskBatchEncoder::Append(const TaskEvent& event) {
  TaskEvent timed = event;
  timed.time_ns = std::min(event.time_ns, kMaxTaskNanos);
  entries_.Append(timed, &batch_);
  batch_.add_task(event.task);
  batch_.add_lasted_ns(std::min(event.lasted_ns, kMaxTaskNanos));
  batch_.add_grown_bytes(
      std::clamp(event.grown_bytes, -kMaxTaskBytes, kMaxTaskBytes));
  batch_.add_stack(event.stack);
}

void TaskBatchEncoder::Take(TaskBatch* batch) { MoveBatch(&batch_, batch); }

absl::Status TaskBatchDecoder::Check(const TaskBatch& b, Ids* ids) {
  const auto rows = static_cast<uint64_t>(b.action_size());
  RETURN_IF_ERROR(CheckTimed("tasks", b, kMaxTaskNanos, &ids->thread));
  RETURN_IF_ERROR(CheckLength("tasks.task", rows, b.task_size()));
  RETURN_IF_ERROR(CheckLength("tasks.lasted_ns", rows, b.lasted_ns_size()));
  RETURN_IF_ERROR(CheckLength("tasks.grown_bytes", rows, b.grown_bytes_size()));
  RETURN_IF_ERROR(CheckLength("tasks.stack", rows, b.stack_size()));
  RETURN_IF_ERROR(CheckActions(b));
  RETURN_IF_ERROR(CheckMost("tasks.lasted_ns", b.lasted_ns(), kMaxTaskNanos));
  RETURN_IF_ERROR(CheckGrowth(b));
  uint32_t task = 0;
  RETURN_IF_ERROR(CheckIds("tasks.task", b.task(), 1, &task));
  return CheckIds("tasks.stack", b.stack(), 0, &ids->stack);
}

size_t TaskBatchDecoder::Next(TaskEvent* events, size_t size) {
  return cursor_.Next(events, size, [this](int row, TaskEvent* event) {
    event->task = batch_.task(row);
    event->lasted_ns = batch_.lasted_ns(row);
    event->grown_bytes = batch_.grown_bytes(row);
    event->stack = batch_.stack(row);
  });
}

}  // namespace pymemrun
