#include "collector/tasks/task_collector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/definitions/native_thread.h"
#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

// Longer names are cut.
constexpr size_t kMaxNameBytesKept = 1024;

}  // namespace

TaskCollector::TaskCollector(Options options) : options_(std::move(options)) {
  options_.side->Subscribe(this, {SideKind::kTask, SideKind::kTaskStep});
}

void TaskCollector::Describe(uint64_t) { WriteRecording(0, 0); }

void TaskCollector::WriteRecording(uint64_t time_ns, uint64_t lost) {
  Record record;
  TaskRecording* const recording = record.mutable_task_recording();
  recording->set_time_us(time_ns / 1000);
  recording->set_lost(lost);
  recording->set_min_blocked_ns(kMinTaskBlockedNs);
  options_.out->Write(record);
}

void TaskCollector::TakeItem(const SideItemView& item, uint32_t stack) {
  if (item.kind == SideKind::kTask) return TakeName(item, stack);
  TakeStep(item, stack);
}

// Stamps come from the program: none counts as later than now.
uint64_t TaskCollector::TimeOf(uint64_t stamp) const {
  return std::min(options_.clock->NanosAt(stamp),
                  options_.clock->NanosOfMonotonic(MonotonicNs()));
}

// The task at an address, which gets a new id if it is unknown. nullptr: there
// are too many.
TaskCollector::Known* TaskCollector::KnownAt(uint64_t address) {
  const auto known = tasks_.find(address);
  if (known != tasks_.end()) return &known->second;
  if (tasks_.size() >= options_.most_tasks || last_id_ == ~uint32_t{0}) {
    return nullptr;
  }
  Known& task = tasks_[address];
  task.id = ++last_id_;
  return &task;
}

// The address of a task may be reused, as the end of a task that is not done is
// not seen. Another coroutine shows that it is another task.
void TaskCollector::TakeName(const SideItemView& item, uint32_t stack) {
  const auto told = item.As<SideTask>();
  const auto old = tasks_.find(told.task);
  if (old != tasks_.end() && old->second.coroutine != 0 &&
      old->second.coroutine != told.coroutine) {
    tasks_.erase(old);
  }
  Known* const task = KnownAt(told.task);
  if (task == nullptr) {
    ++refused_;
    return;
  }
  const absl::string_view name =
      item.payload.substr(SideFrameBytes(item.frames()), kMaxNameBytesKept);
  const bool is_greenlet =
      told.task_kind == static_cast<uint64_t>(SideTaskKind::kGreenlet);
  if (is_greenlet) task->kind = TASK_GREENLET;
  std::string kept =
      is_greenlet ? absl::StrCat("greenlet-", task->id) : std::string(name);
  if (task->coroutine == told.coroutine && task->name == kept) return;
  task->coroutine = told.coroutine;
  task->name = std::move(kept);
  WriteDef(*task, TimeOf(item.time_ns), stack);
}

void TaskCollector::WriteDef(const Known& task, uint64_t time_ns,
                             uint32_t stack) {
  Record record;
  TaskDef* const def = record.mutable_task();
  def->set_time_us(time_ns / 1000);
  def->set_task(task.id);
  def->set_name(task.name);
  def->set_kind(task.kind);
  def->set_stack(stack);
  options_.out->Write(record);
}

// An ended step. The task is forgotten with its last one, so a later task at
// its address gets a new id.
void TaskCollector::TakeStep(const SideItemView& item, uint32_t stack) {
  const auto told = item.As<SideTaskStep>();
  const uint32_t note = told.what();
  Known* const task = IsTaskNote(note) ? KnownAt(told.task) : nullptr;
  if (task == nullptr) {
    ++refused_;
    return;
  }
  Waiting step = {item.thread, {}};
  TaskEvent& event = step.event;
  event.time_ns = TimeOf(item.time_ns);
  event.task = task->id;
  event.action = static_cast<TaskAction>(note);
  const uint64_t begin_ns = TimeOf(told.begin);
  event.lasted_ns = event.time_ns - std::min(begin_ns, event.time_ns);
  event.grown_bytes = static_cast<int64_t>(told.grown_bytes);
  event.stack = event.ends_task() ? 0 : stack;
  if (event.action == TASK_BLOCKED) event.grown_bytes = 0;
  if (event.ends_task()) tasks_.erase(told.task);
  waiting_.push_back(step);
}

// A new thread has steps before it has its name.
bool TaskCollector::IsReady(const Waiting& step, uint64_t now) const {
  return waiting_.size() > kMostHeldBack ||
         HasItsName(options_.pid, step.thread, step.event.time_ns, now,
                    *options_.definitions);
}

size_t TaskCollector::Round(uint64_t looked_ns) {
  const uint64_t looked = options_.clock->NanosOfMonotonic(looked_ns);
  while (!waiting_.empty() && IsReady(waiting_.front(), looked)) {
    Give(waiting_.front());
    waiting_.pop_front();
  }
  return 0;
}

void TaskCollector::Give(const Waiting& step) {
  TaskEvent event = step.event;
  event.thread = NativeThreadId(options_.pid, step.thread, event.time_ns / 1000,
                                options_.definitions);
  encoder_.Append(event);
  if (encoder_.entries() >= TaskBatchEncoder::kMaxEntries) WriteBatch();
}

void TaskCollector::WriteBatch() {
  if (encoder_.entries() == 0) return;
  Record record;
  encoder_.Take(record.mutable_tasks());
  options_.out->Write(record);
}

void TaskCollector::EndBatch(uint64_t now_ns) {
  WriteBatch();
  const uint64_t lost = options_.side->lost(SideParty::kTasks) + refused_;
  if (lost <= written_lost_) return;
  written_lost_ = lost;
  WriteRecording(options_.clock->NanosOfMonotonic(now_ns), lost);
}

// Writes the steps that have not ended. Their growth is not known. For nested
// steps only the innermost is known.
void TaskCollector::AddStepsUnderWay(uint64_t now_ns) {
  const uint64_t end = options_.clock->NanosOfMonotonic(now_ns);
  for (const TaskNow& now : options_.page->tasks) {
    const uint32_t thread = now.thread.load(std::memory_order_relaxed);
    const uint64_t address = now.task.load(std::memory_order_relaxed);
    const uint64_t since = now.since.load(std::memory_order_relaxed);
    if (thread == 0 || address == 0) continue;
    Known* const task = KnownAt(address);
    if (task == nullptr) continue;
    TaskEvent event;
    event.time_ns = end;
    event.task = task->id;
    event.action = TASK_RUNS;
    event.lasted_ns = end - std::min(end, options_.clock->NanosAt(since));
    Give({thread, event});
  }
}

void TaskCollector::Finish(uint64_t now_ns, bool process_lives) {
  for (const Waiting& step : waiting_) Give(step);
  waiting_.clear();
  const uint64_t said_ns = options_.page->end.monotonic_ns;
  const bool knows = process_lives && said_ns != 0;
  AddStepsUnderWay(knows ? std::min(said_ns, now_ns) : now_ns);
  EndBatch(now_ns);
}

}  // namespace pymemrun
