#include "readers/replay/states/state_replay.h"

#include <algorithm>
#include <utility>

namespace pymemrun {
namespace {

uint64_t LongOf(const std::vector<GilPart>& parts, const TimeRange& range) {
  uint64_t sum = 0;
  for (const GilPart& part : parts) {
    const uint64_t long_ns = part.end_ns - part.begin_ns;
    sum += range.ShareOf(long_ns - std::min(long_ns, part.paused_ns),
                         part.begin_ns, part.end_ns);
  }
  return sum;
}

// What of the span lies in the range; nothing may.
StateSpan Within(StateSpan span, const TimeRange& range) {
  span.gil_ns = range.ShareOf(span.gil_ns, span.begin_ns, span.end_ns);
  span.begin_ns = range.Clamp(span.begin_ns);
  span.end_ns = range.Clamp(span.end_ns);
  return span;
}

}  // namespace

void StateReplay::OnStateRecording(const StateRecording& recording) {
  has_states_ = true;
  has_switches_ |= recording.switches();
  cannot_look_ |= recording.cannot_look();
  reason_ = recording.reason();
}

StateReplay::Told& StateReplay::TellOf(uint32_t first) {
  if (first > index().threads()) first = 0;  // it did not fit
  if (first >= told_.size()) told_.resize(first + 1);
  return told_[first];
}

bool StateReplay::OnStates(const StateEvent* events, size_t count) {
  has_states_ = true;
  for (size_t i = 0; i < count; ++i) Take(events[i]);
  return true;
}

// The state that starts with the event.
uint8_t StateReplay::CodeOf(const StateEvent& event) {
  switch (event.reason) {
    case SLEEP_LOCK:
      return ThreadSteps::kLock;
    case SLEEP_IO:
      return ThreadSteps::kIo;
    case SLEEP_TIMER:
      return ThreadSteps::kTimer;
    case SLEEP_PAGE_FAULT:
      return ThreadSteps::kPageFault;
    default:
      break;
  }
  if (event.reason != SLEEP_OTHER) return ThreadSteps::kOther;
  auto name = std::find(names_.begin(), names_.end(), event.other);
  if (name == names_.end()) {
    if (names_.size() >= kMostNames) return ThreadSteps::kOther;
    name = names_.insert(names_.end(), std::string(event.other));
  }
  return static_cast<uint8_t>(ThreadSteps::kOther + 1 +
                              (name - names_.begin()));
}

void StateReplay::Take(const StateEvent& event) {
  Told& told = TellOf(index().FirstThread(event.thread));
  last_ns_ = std::max(last_ns_, event.time_ns);
  told.first_ns = std::min(told.first_ns, event.time_ns);
  told.end_ns = 0;
  switch (event.action) {
    case STATE_BORN:
      return told.steps.Add(event.time_ns, ThreadSteps::kRunnable);
    case STATE_RUNS:
      return told.steps.Add(event.time_ns, ThreadSteps::kRuns);
    case STATE_PREEMPTED:
      told.preempted += range().Has(event.time_ns);
      return told.steps.Add(event.time_ns, ThreadSteps::kRunnable);
    case STATE_SLEEPS:
      told.voluntary += range().Has(event.time_ns);
      return told.steps.Add(event.time_ns, ThreadSteps::kOther);
    case STATE_ENDED:
      told.end_ns = event.time_ns;
      return told.steps.Add(event.time_ns, ThreadSteps::kGone);
    default:
      break;
  }
  // The sleep that it is in, unless it has been looked at.
  if (told.steps.empty()) return;
  const uint8_t code = told.steps.CodeOf(told.steps.size() - 1);
  if (code == ThreadSteps::kOther) told.steps.Rename(CodeOf(event));
}

bool StateReplay::OnSched(const SchedSample* samples, size_t count) {
  has_states_ = true;
  for (size_t i = 0; i < count; ++i) {
    const SchedSample& sample = samples[i];
    Told& told = TellOf(index().FirstThread(sample.thread));
    const uint64_t time_ns = sample.time_us * 1000;
    last_ns_ = std::max(last_ns_, time_ns);
    told.first_ns = std::min(told.first_ns, time_ns);
    // A damaged file's do not sink either.
    if (time_ns > range().end_ns) continue;
    SchedSample& last = told.sched;
    last.run_ns = std::max(last.run_ns, sample.run_ns);
    last.runnable_ns = std::max(last.runnable_ns, sample.runnable_ns);
    last.voluntary = std::max(last.voluntary, sample.voluntary);
    last.preempted = std::max(last.preempted, sample.preempted);
    const uint64_t begin_ns = range().begin_ns;
    if (begin_ns != 0 && time_ns <= begin_ns) told.before = last;
    if (!has_switches_) continue;
    const uint64_t before_ns =
        told.readings.empty() ? 0 : told.readings.back().time_ns;
    told.readings.push_back({std::max(time_ns, before_ns), last.runnable_ns});
  }
  return true;
}

void StateReplay::OnHold(const GilSpan& hold) {
  TellOf(hold.thread)
      .holds.push_back({hold.begin_ns, std::max(hold.begin_ns, hold.end_ns),
                        hold.paused_ns});
}

void StateReplay::OnWait(uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                         GilWaitKind kind) {
  TellOf(thread).waits.push_back({begin_ns, std::max(begin_ns, end_ns), 0});
}

// By the scheduler's counts: what is left of its life it has slept.
void StateReplay::SumCounts(const Told& told, uint64_t end_ns,
                            ThreadStates* states) const {
  StateNanos& ns = states->times.ns;
  const uint64_t life_ns =
      range().Overlap(std::min(end_ns, told.first_ns), end_ns);
  const uint64_t run_ns =
      std::min(told.sched.run_ns - told.before.run_ns, life_ns);
  const uint64_t runnable_ns = std::min(
      told.sched.runnable_ns - told.before.runnable_ns, life_ns - run_ns);
  const uint64_t slept_ns = life_ns - run_ns - runnable_ns;
  const uint64_t with_gil_ns = std::min(run_ns, LongOf(told.holds, range()));
  const uint64_t gil_ns = std::min(slept_ns, LongOf(told.waits, range()));
  ns[NumberOf(ThreadState::kRunsWithGil)] = with_gil_ns;
  ns[NumberOf(ThreadState::kRuns)] = run_ns - with_gil_ns;
  ns[NumberOf(ThreadState::kRunnable)] = runnable_ns;
  ns[NumberOf(ThreadState::kGil)] = gil_ns;
  ns[NumberOf(ThreadState::kOther)] = slept_ns - gil_ns;
  states->voluntary = told.sched.voluntary - told.before.voluntary;
  states->preempted = told.sched.preempted - told.before.preempted;
}

void StateReplay::Finish() {
  GilReplay::Finish();
  const uint64_t end_ns = std::max(this->end_ns(), last_ns_);
  const auto ended = [end_ns](const Told& told) {
    return told.end_ns != 0 ? told.end_ns : end_ns;
  };
  states_.resize(told_.size());
  for (size_t thread = 0; thread < told_.size(); ++thread) {
    Told& told = told_[thread];
    ThreadStates& states = states_[thread];
    if (told.first_ns == ~uint64_t{0}) continue;
    states.any = told.first_ns <= range().end_ns &&
                 std::max(ended(told), told.first_ns) >= range().begin_ns;
    states.by_switches = has_switches_ && !told.steps.empty();
    if (!states.by_switches) {
      SumCounts(told, ended(told), &states);
    } else {
      states.voluntary = told.voluntary;
      states.preempted = told.preempted;
      const auto take = [&](const StateSpan& span) {
        const StateSpan within = Within(span, range());
        if (within.long_ns() == 0) return;
        states.times.Add(within);
        OnSpan(static_cast<uint32_t>(thread), span);
      };
      EachSpan(told.steps, end_ns, std::move(told.holds), std::move(told.waits),
               told.readings, take);
    }
    told = {};
  }
}

}  // namespace pymemrun
