#include "readers/replay/states/state_replay.h"

#include <algorithm>
#include <utility>

namespace pymemrun {
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

// Only collects steps: GIL events of the same time may follow later in the
// file. Finish() puts both together.
bool StateReplay::OnStates(const StateEvent* events, size_t count) {
  has_states_ = true;
  for (size_t i = 0; i < count; ++i) Take(events[i]);
  return true;
}

// The step code of a sleep with this reason. System calls that are not known
// get codes in the order in which they appear.
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

// A sleep starts as kOther. What it is for comes in a later event of the
// thread, from the collector's look at it, and renames the step.
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
      told.preempted += HasEvent(event.time_ns);
      return told.steps.Add(event.time_ns, ThreadSteps::kRunnable);
    case STATE_SLEEPS:
      told.voluntary += HasEvent(event.time_ns);
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

// Samples are /proc/PID/task/TID/schedstat, every second, or every 100 ms where
// there are no switches. A thread that counted nothing since the last batch has
// no entry. Counts that sink, as in a damaged file, stay as they were.
bool StateReplay::OnSched(const SchedSample* samples, size_t count) {
  has_states_ = true;
  for (size_t i = 0; i < count; ++i) {
    const SchedSample& sample = samples[i];
    Told& told = TellOf(index().FirstThread(sample.thread));
    const uint64_t time_ns = sample.time_us * 1000;
    if (time_ns > read_ns_) read_before_ns_ = std::exchange(read_ns_, time_ns);
    last_ns_ = std::max(last_ns_, time_ns);
    told.first_ns = std::min(told.first_ns, time_ns);
    const SchedReading last =
        told.readings.empty() ? SchedReading{0, 0} : told.readings.back();
    told.readings.push_back({std::max(time_ns, last.time_ns),
                             std::max(sample.runnable_ns, last.runnable_ns),
                             std::max(sample.run_ns, last.run_ns),
                             read_before_ns_});
    // Its counts are of switches before it.
    const bool has = time_ns == 0 || HasEvent(time_ns - 1);
    const auto count_more = [has](uint64_t now, uint64_t* read, uint64_t* sum) {
      if (has) *sum += now - std::min(now, *read);
      *read = std::max(now, *read);
    };
    count_more(sample.voluntary, &told.read_voluntary, &told.voluntary);
    count_more(sample.preempted, &told.read_preempted, &told.preempted);
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

// Puts each thread's steps and GIL events together, and frees them. Without
// switches, the scheduler's counts stand in for steps.
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
    states.any = told.first_ns <= range_.end_ns &&
                 std::max(ended(told), told.first_ns) >= range_.begin_ns;
    states.by_switches = has_switches_ && !told.steps.empty();
    states.voluntary = told.voluntary;
    states.preempted = told.preempted;
    if (!states.by_switches) {
      for (const CountedSpan& span :
           CountedSpans(told.readings, told.first_ns, ended(told),
                        std::move(told.holds), std::move(told.waits))) {
        states.times.Add(span, range_);
      }
    } else {
      const auto take = [&](const StateSpan& span) {
        if (!states.times.Add(span, range_)) return;
        OnSpan(static_cast<uint32_t>(thread), span);
      };
      EachSpan(told.steps, end_ns, std::move(told.holds), std::move(told.waits),
               told.readings, take);
    }
    told = {};
  }
}

}  // namespace pymemrun
