#include "format/tasks/task_batch.h"

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

absl::Status CheckAmounts(const TaskBatch& batch) {
  for (const uint64_t lasted : batch.lasted_ns()) {
    if (lasted > kMaxTaskNanos) {
      return WrongColumn("tasks.lasted_ns",
                         absl::StrCat("at most ", kMaxTaskNanos), lasted);
    }
  }
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

void TaskBatchEncoder::Append(const TaskEvent& event) {
  const uint64_t time_ns =
      std::min(std::max(event.time_ns, last_ns_), kMaxTaskNanos);
  if (entries() == 0) {
    batch_.set_first_ns(time_ns);
    last_ns_ = time_ns;
  }
  batch_.add_time_step_ns(time_ns - last_ns_);
  last_ns_ = time_ns;
  batch_.add_thread(event.thread);
  batch_.add_task(event.task);
  batch_.add_action(event.action);
  batch_.add_lasted_ns(std::min(event.lasted_ns, kMaxTaskNanos));
  batch_.add_grown_bytes(
      std::clamp(event.grown_bytes, -kMaxTaskBytes, kMaxTaskBytes));
  batch_.add_stack(event.stack);
}

void TaskBatchEncoder::Take(TaskBatch* batch) {
  batch->Clear();
  batch->Swap(&batch_);
}

absl::Status TaskBatchDecoder::Check(const TaskBatch& b, Ids* ids) {
  const auto rows = static_cast<uint64_t>(b.action_size());
  RETURN_IF_ERROR(
      CheckLength("tasks.time_step_ns", rows, b.time_step_ns_size()));
  RETURN_IF_ERROR(CheckLength("tasks.thread", rows, b.thread_size()));
  RETURN_IF_ERROR(CheckLength("tasks.task", rows, b.task_size()));
  RETURN_IF_ERROR(CheckLength("tasks.lasted_ns", rows, b.lasted_ns_size()));
  RETURN_IF_ERROR(CheckLength("tasks.grown_bytes", rows, b.grown_bytes_size()));
  RETURN_IF_ERROR(CheckLength("tasks.stack", rows, b.stack_size()));
  RETURN_IF_ERROR(CheckActions(b));
  RETURN_IF_ERROR(CheckAmounts(b));
  uint64_t time = b.first_ns();
  RETURN_IF_ERROR(AddAll("tasks.time_step_ns", b.time_step_ns(), &time));
  if (time > kMaxTaskNanos) {
    return WrongColumn("tasks.time_step_ns",
                       absl::StrCat("a time of at most ", kMaxTaskNanos), time);
  }
  uint32_t task = 0;
  RETURN_IF_ERROR(CheckIds("tasks.task", b.task(), 1, &task));
  RETURN_IF_ERROR(CheckIds("tasks.thread", b.thread(), 1, &ids->thread));
  return CheckIds("tasks.stack", b.stack(), 0, &ids->stack);
}

size_t TaskBatchDecoder::Next(TaskEvent* events, size_t size) {
  const auto left = static_cast<size_t>(batch_.action_size() - row_);
  const size_t count = std::min(size, left);
  for (size_t i = 0; i < count; ++i, ++row_) {
    TaskEvent& event = events[i];
    event.time_ns = time_ns_ += batch_.time_step_ns(row_);
    event.thread = batch_.thread(row_);
    event.task = batch_.task(row_);
    event.action = batch_.action(row_);
    event.lasted_ns = batch_.lasted_ns(row_);
    event.grown_bytes = batch_.grown_bytes(row_);
    event.stack = batch_.stack(row_);
  }
  return count;
}

}  // namespace pymemrun
