#include "readers/task_steps/task_timeline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace pymemrun {

void TaskTimeline::Add(uint32_t thread, const TaskEvent& step) {
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  threads_[thread].steps.push_back(
      {step.begin_ns() / 1000, step.time_ns / 1000, step.task});
}

void TaskTimeline::Finish() {
  for (Thread& thread : threads_) MakeTurns(&thread);
}

// Times of events are whole microseconds: a step lasts to the end of its last
// one, unless another one begins in it.
void TaskTimeline::MakeTurns(Thread* thread) {
  std::vector<Step>& steps = thread->steps;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) {
                     return a.begin_us != b.begin_us ? a.begin_us < b.begin_us
                                                     : a.end_us > b.end_us;
                   });
  std::vector<Turn>& turns = thread->turns;
  const auto turn_to = [&turns](uint64_t time_us, uint32_t task) {
    if (!turns.empty() && turns.back().time_us == time_us) turns.pop_back();
    if (turns.empty() || turns.back().task != task) {
      turns.push_back({time_us, task});
    }
  };
  std::vector<Step> open;
  const auto close_until = [&](uint64_t time_us) {
    while (!open.empty() && open.back().end_us < time_us) {
      const uint64_t end_us = open.back().end_us;
      open.pop_back();
      // Of a damaged file an outer one may have ended before.
      while (!open.empty() && open.back().end_us <= end_us) open.pop_back();
      turn_to(end_us + 1, open.empty() ? 0 : open.back().task);
    }
  };
  for (const Step& step : steps) {
    close_until(step.begin_us);
    open.push_back(step);
    turn_to(step.begin_us, step.task);
  }
  close_until(~uint64_t{0});
  std::vector<Step>().swap(steps);
}

uint32_t TaskTimeline::TaskAt(uint32_t thread, uint64_t time_us) const {
  if (thread >= threads_.size()) return 0;
  const std::vector<Turn>& turns = threads_[thread].turns;
  size_t& last = threads_[thread].last;
  if (last < turns.size() && turns[last].time_us <= time_us &&
      (last + 1 == turns.size() || time_us < turns[last + 1].time_us)) {
    return turns[last].task;
  }
  const auto next = std::upper_bound(
      turns.begin(), turns.end(), time_us,
      [](uint64_t time, const Turn& turn) { return time < turn.time_us; });
  if (next == turns.begin()) return 0;
  last = next - turns.begin() - 1;
  return turns[last].task;
}

bool TaskTimelineReader::OnTasks(const TaskEvent* events, size_t count) {
  has_tasks_ = true;
  for (size_t i = 0; i < count; ++i) {
    const TaskEvent& step = events[i];
    if (!step.is_step()) continue;
    const uint32_t thread = index().FirstThread(step.thread);
    if (times_ != nullptr &&
        !times_->Any(thread, step.begin_ns() / 1000, step.time_ns / 1000)) {
      continue;
    }
    timeline_.Add(thread, step);
  }
  return true;
}

bool ReadTaskSteps(RereadFile* file, const Console& console,
                   TaskTimelineReader* steps, int* code) {
  if (!file->Read(steps)) {
    *code = kExitFailed;
    return false;
  }
  if (steps->has_tasks()) return true;
  console.Say(absl::StrCat(file->shown_name(),
                           ": --by task needs steps of tasks: record them "
                           "with pymemrun --trace tasks"));
  *code = file->whole() ? kExitUsage : file->code();
  return false;
}

bool ReadAllocatingSteps(RereadFile* file, const Console& console,
                         TaskTimelineReader* steps, int* code) {
  HeapTimes times;
  if (!file->Read(&times)) {
    *code = kExitFailed;
    return false;
  }
  steps->OnlyAt(&times);
  return ReadTaskSteps(file, console, steps, code);
}

}  // namespace pymemrun
