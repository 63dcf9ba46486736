// One entry of a StateBatch, and one of a SchedBatch.
#ifndef PYMEMRUN_FORMAT_STATES_STATE_EVENT_H_
#define PYMEMRUN_FORMAT_STATES_STATE_EVENT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

// StateBatch says what each member means.
struct StateEvent {
  uint64_t time_ns = 0;
  uint32_t thread = 0;
  StateAction action = STATE_RUNS;
  SleepReason reason = SLEEP_UNKNOWN;  // of STATE_SEEN
  absl::string_view other;             // of SLEEP_OTHER; valid during a call
};

// SchedBatch says what each member means.
struct SchedSample {
  uint64_t time_us = 0;
  uint32_t thread = 0;
  uint64_t run_ns = 0, runnable_ns = 0;
  uint64_t voluntary = 0, preempted = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STATES_STATE_EVENT_H_
