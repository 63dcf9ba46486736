// Which steps of tasks are under way. In the control page, so that the
// collector has them however the program ends.
#ifndef PYMEMRUN_TRACER_WIRE_TASK_NOW_H_
#define PYMEMRUN_TRACER_WIRE_TASK_NOW_H_

#include <atomic>
#include <cstdint>

namespace pymemrun {

// In how many threads at a time. Of more nothing is known until a step ends.
inline constexpr uint32_t kMaxTasksNow = 8;

// Written under the GIL. Times are time stamps (StartFacts::time_is_tsc).
struct TaskNow {
  std::atomic<uint64_t> task;  // its address
  std::atomic<uint64_t> since;
  std::atomic<uint32_t> thread;  // Linux thread id; 0: no step is under way
  uint32_t unused;
};
static_assert(sizeof(TaskNow) == 24);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_TASK_NOW_H_
