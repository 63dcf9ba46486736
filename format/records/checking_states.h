// The part of CheckingVisitor that checks states of threads. For tests and the
// fuzzer only.
#ifndef PYMEMRUN_FORMAT_RECORDS_CHECKING_STATES_H_
#define PYMEMRUN_FORMAT_RECORDS_CHECKING_STATES_H_

#include "format/limits.h"
#include "format/records/checking_objects.h"

namespace pymemrun {

class CheckingStates : public CheckingObjects {
 public:
  explicit CheckingStates(bool keep_lines) : CheckingObjects(keep_lines) {}

  bool OnStates(const StateEvent* events, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) OnStateEvent(events[i]);
    return true;
  }
  bool OnSched(const SchedSample* samples, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) {
      Check(samples[i].thread >= 1 && samples[i].thread <= threads_);
      Check(samples[i].run_ns <= kMaxStateNanos &&
            samples[i].runnable_ns <= kMaxStateNanos);
      Keep("sched ", samples[i].run_ns);
    }
    return true;
  }
  void OnStatesLost(uint64_t lost) override { Keep("states lost ", lost); }
  void OnStateRecording(const StateRecording& r) override {
    Keep("state recording ", r.switches());
  }

 protected:
  uint32_t threads_ = 0;  // defined so far

 private:
  void OnStateEvent(const StateEvent& event) {
    Check(StateAction_IsValid(event.action) &&
          SleepReason_IsValid(event.reason));
    Check(event.thread >= 1 && event.thread <= threads_);
    Check(event.time_ns <= kMaxStateNanos);
    Check(event.action == STATE_SEEN || event.reason == SLEEP_UNKNOWN);
    Check(event.reason == SLEEP_OTHER || event.other.empty());
    Keep("state ", event.time_ns);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_CHECKING_STATES_H_
