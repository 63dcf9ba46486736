// One entry of a TaskBatch.
#ifndef PYMEMRUN_FORMAT_TASKS_TASK_EVENT_H_
#define PYMEMRUN_FORMAT_TASKS_TASK_EVENT_H_

#include <cstdint>

#include "format/trace.pb.h"

namespace pymemrun {

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

#endif  // PYMEMRUN_FORMAT_TASKS_TASK_EVENT_H_
