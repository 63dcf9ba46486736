#include "readers/replay/task_steps/task_timeline.h"

#include <algorithm>

namespace pymemrun {

void TaskTimeline::Add(uint32_t thread, uint32_t task, uint64_t begin_us,
                       uint64_t end_us) {
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  std::vector<Step>& steps = threads_[thread].steps;
  if (steps.empty()) some_.push_back(thread);
  steps.push_back({begin_us, end_us, task});
  ++steps_;
}

void TaskTimeline::Forget(uint64_t before_us) {
  steps_ = 0;
  const auto ended = [before_us](const Step& step) {
    return step.end_us < before_us;
  };
  const auto has_none = [&](uint32_t thread) {
    std::vector<Step>& steps = threads_[thread].steps;
    steps.erase(std::remove_if(steps.begin(), steps.end(), ended), steps.end());
    steps_ += steps.size();
    if (steps.empty()) threads_[thread] = Thread();
    return steps.empty();
  };
  some_.erase(std::remove_if(some_.begin(), some_.end(), has_none),
              some_.end());
}

void TaskTimeline::MakeTurns() {
  for (const uint32_t thread : some_) MakeTurnsOf(&threads_[thread]);
}

// Times of events are whole microseconds: a step lasts to the end of its last
// one, unless another one begins in it.
void TaskTimeline::MakeTurnsOf(Thread* thread) {
  std::vector<Step>& steps = thread->steps;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) {
                     return a.begin_us != b.begin_us ? a.begin_us < b.begin_us
                                                     : a.end_us > b.end_us;
                   });
  std::vector<Turn>& turns = thread->turns;
  turns.clear();
  thread->last = 0;
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

}  // namespace pymemrun
