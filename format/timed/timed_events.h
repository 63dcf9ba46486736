// Entries of GilBatch, StateBatch, SchedBatch and TaskBatch, one struct each.
#ifndef PYMEMRUN_FORMAT_TIMED_TIMED_EVENTS_H_
#define PYMEMRUN_FORMAT_TIMED_TIMED_EVENTS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

// GilBatch says what each member means.
struct GilEvent {
  uint64_t time_ns = 0;
  uint32_t thread = 0;
  uint32_t gil = 1;
  GilAction action = GIL_TAKEN;
  // If HasHold().
  uint64_t free_ns = 0;
  uint64_t pauses = 0;
  uint64_t paused_ns = 0;
  // If HasGilStack().
  uint32_t stack = 0;
  uint32_t function = 0;
  // If HasBy().
  uint32_t by = 0;
};

// Whether it says what the thread that took the GIL last did since.
inline bool HasHold(GilAction action) {
  return action == GIL_TAKEN || action == GIL_WAITING || action == GIL_STATE;
}
inline bool HasGilStack(GilAction action) {
  return action == GIL_WAITER || action == GIL_HOLDER;
}

// Whether it says what a thread of a free-threaded interpreter waits for.
inline bool IsOfLocks(GilAction action) { return action >= GIL_LOCK_WAITING; }
inline bool HasBy(GilAction action) {
  return action == GIL_LOCK_TAKEN || action == GIL_GOES_ON;
}

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

// TaskBatch says what each member means.
struct TaskEvent {
  uint64_t time_ns = 0;
  uint32_t thread = 0;
  uint32_t task = 0;
  TaskAction action = TASK_WAITS;
  uint64_t lasted_ns = 0;
  int64_t grown_bytes = 0;
  uint32_t stack = 0;

  // It does not begin before the run.
  uint64_t begin_ns() const {
    return lasted_ns < time_ns ? time_ns - lasted_ns : 0;
  }
  bool is_step() const { return action != TASK_BLOCKED; }
  // The task's last step.
  bool ends_task() const {
    return action == TASK_DONE || action == TASK_RAISED ||
           action == TASK_CANCELLED;
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_TIMED_TIMED_EVENTS_H_
