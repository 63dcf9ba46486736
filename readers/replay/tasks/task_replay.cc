#include "readers/replay/tasks/task_replay.h"

#include <utility>

#include "format/limits.h"

namespace pymemrun {
namespace {

// In a hostile file sums may wrap.
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

}  // namespace

void TaskSums::Add(const TaskSums& other) {
  first_ns = steps == 0 ? other.first_ns : std::min(first_ns, other.first_ns);
  last_ns = std::max(last_ns, other.last_ns);
  steps += other.steps;
  ran_ns += other.ran_ns;
  grown_bytes = Sum(grown_bytes, other.grown_bytes);
  if (longest.task == 0 || other.longest.SureNs() > longest.SureNs()) {
    longest = other.longest;
  }
  if (most_grown_task == 0 || other.most_grown_bytes > most_grown_bytes) {
    most_grown_task = other.most_grown_task;
    most_grown_bytes = other.most_grown_bytes;
  }
  tasks += other.tasks;
  not_done += other.not_done;
  raised += other.raised;
  cancelled += other.cancelled;
}

// A greenlet that runs a library's code alone switches to others when they can
// go on: gevent's hub.
void TaskReplay::OnTask(const TaskDef& task) {
  names_->Add(task);
  tasks_[task.task()].stack = task.stack();
  if (task.kind() == TASK_GREENLET && index().OwnStack(task.stack()) == 0) {
    hubs_.insert(task.task());
  }
}

// An event stands at the end of its step, so steps that began after the range
// may be mixed with steps within it.
bool TaskReplay::OnTasks(const TaskEvent* events, size_t count) {
  has_tasks_ = true;
  for (size_t i = 0; i < count; ++i) {
    end_ns_ = std::max(end_ns_, events[i].time_ns);
    if (events[i].begin_ns() > range_.end_ns) continue;
    if (events[i].is_step()) {
      Take(events[i]);
    } else {
      TakeBlocked(events[i]);
    }
  }
  return true;
}

// A wait without the GIL within a step precedes the step in the file. Its sum
// and its longest part are kept until the step comes.
void TaskReplay::TakeBlocked(const TaskEvent& event) {
  Blocked& blocked = blocked_[event.task];
  blocked.sum_ns += event.lasted_ns;
  if (event.lasted_ns > blocked.lasted_ns) {
    blocked.lasted_ns = event.lasted_ns;
    blocked.stack = event.stack;
  }
}

// Moves the waits to the step. What a hub waits for delays no other task, so it
// is not counted as running.
void TaskReplay::AddBlocked(uint32_t task, TaskStep* step) {
  const auto found = blocked_.find(task);
  if (found == blocked_.end()) return;
  const Blocked blocked = found->second;
  blocked_.erase(found);
  if (hubs_.contains(task)) {
    step->ran_ns -= std::min(step->ran_ns, blocked.sum_ns);
    return;
  }
  step->blocked_ns = blocked.lasted_ns;
  step->blocked_stack = blocked.stack;
}

// Subtracts the steps within this step. They ended before it, so they precede
// it in the file: all that began after it did are within it. Linear time: each
// step is pushed and popped once.
void TaskReplay::TakeWithin(const TaskEvent& event, Thread* thread,
                            TaskStep* step, int64_t* grown_bytes) {
  std::deque<Ended>& ended = thread->ended;
  while (!ended.empty() && ended.back().begin_ns >= step->begin_ns) {
    step->ran_ns -= std::min(step->ran_ns, ended.back().lasted_ns);
    *grown_bytes = Sum(*grown_bytes, -ended.back().grown_bytes);
    ended.pop_back();
  }
  ended.push_back({step->begin_ns, event.lasted_ns, event.grown_bytes});
  if (ended.size() > kMostWithin) ended.pop_front();
}

// Steps are counted at their end. A step that ends after the range is cut, and
// does not end its task there.
void TaskReplay::Take(const TaskEvent& event) {
  const uint32_t first = index().FirstThread(event.thread);
  Thread& thread = threads_[first];
  Task& task = tasks_[event.task];
  if (!std::exchange(task.has_begun, true)) {
    task.task = event.task;
    task.thread = first;
    ++thread.under_way;
  }
  TaskStep step;
  step.task = event.task;
  step.thread = first;
  step.begin_ns = event.begin_ns();
  step.ran_ns = event.lasted_ns;
  int64_t grown_bytes = event.grown_bytes;
  TakeWithin(event, &thread, &step, &grown_bytes);
  step.from_stack = task.waits_at != 0 ? task.waits_at : task.stack;
  step.to_stack = event.action == TASK_WAITS ? event.stack : 0;
  step.others = thread.under_way > 0 ? thread.under_way - 1 : 0;
  AddBlocked(event.task, &step);
  const bool goes_on = event.time_ns > range_.end_ns;  // after the range
  step.is_cut = event.action == TASK_RUNS || goes_on;
  AddStep(event, step, grown_bytes, &task.sums);
  task.waits_at = step.to_stack;
  task.runs_at_end = step.is_cut;
  if (event.ends_task() && !task.is_done && !goes_on) {
    EndTask(event, &thread, &task);
  }
}

// The number may be used again for another task.
void TaskReplay::EndTask(const TaskEvent& event, Thread* thread, Task* task) {
  task->is_done = true;
  task->sums.not_done = 0;
  task->sums.raised = event.action == TASK_RAISED ? 1 : 0;
  task->sums.cancelled = event.action == TASK_CANCELLED ? 1 : 0;
  if (thread->under_way > 0) --thread->under_way;
  HandOver(*task);
  tasks_.erase(event.task);
}

void TaskReplay::HandOver(const Task& task) const {
  if (task.sums.steps > 0) hand_over_(task);
}

void TaskReplay::OnFooter(const Footer& footer) {
  const uint64_t end_us =
      std::min<uint64_t>(footer.end_us(), kMaxTaskNanos / 1000);
  end_ns_ = std::max(end_ns_, end_us * 1000);
}

void TaskReplay::Finish() {
  end_ns_ = range_.Clamp(end_ns_);
  for (const auto& [id, task] : tasks_) HandOver(task);
  tasks_.clear();
}

// The part of the step within the range. The change of RSS is known at its end.
void TaskReplay::AddStep(const TaskEvent& event, TaskStep step,
                         int64_t grown_bytes, TaskSums* sums) {
  const uint64_t begin_ns = event.begin_ns(), end_ns = event.time_ns;
  if (!range_.Has(end_ns) && range_.Overlap(begin_ns, end_ns) == 0) return;
  step.ran_ns = range_.ShareOf(step.ran_ns, begin_ns, end_ns);
  step.begin_ns = range_.Clamp(begin_ns);
  if (sums->steps++ == 0) {
    sums->tasks = sums->not_done = 1;
    sums->most_grown_task = event.task;
    sums->first_ns = step.begin_ns;
  }
  sums->ran_ns += step.ran_ns;
  sums->last_ns = std::max(sums->last_ns, range_.Clamp(end_ns));
  if (range_.Has(end_ns)) {
    sums->grown_bytes = Sum(sums->grown_bytes, grown_bytes);
    sums->most_grown_bytes = sums->grown_bytes;
  }
  if (sums->steps == 1 || step.SureNs() >= sums->longest.SureNs()) {
    sums->longest = step;
  }
}

}  // namespace pymemrun
