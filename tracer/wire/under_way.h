// What is under way: who has each GIL, and which steps of tasks. In the control
// page, so that the collector has it however the program ends.
#ifndef PYMEMRUN_TRACER_WIRE_UNDER_WAY_H_
#define PYMEMRUN_TRACER_WIRE_UNDER_WAY_H_

#include <atomic>
#include <cstdint>

namespace pymemrun {

// How many GILs are known at a time, the first of them the main interpreter's;
// of more nothing is recorded.
inline constexpr uint32_t kMaxGils = 8;

// What is known of a GIL now: who took it last, and what that thread has done
// since. Written by who holds the interpreter's own mutex of that GIL, one at a
// time. Times are time stamps (StartFacts::time_is_tsc).
struct GilHold {
  std::atomic<uint64_t> gil;         // 1 + its interpreter's number; 0: no GIL
  std::atomic<uint32_t> thread;      // Linux thread id; 0: nobody yet
  std::atomic<uint32_t> waiting;     // so many threads wait
  std::atomic<uint64_t> free_since;  // 0: `thread` holds it
  // How often the thread let go and took it again, with no other between, and
  // for how long it was without by that.
  std::atomic<uint64_t> pauses;
  std::atomic<uint64_t> paused;
  // Since when others wait under this thread, as far as `waiting` is not 0.
  std::atomic<uint64_t> kept_since;
  uint64_t unused[2];
};
static_assert(sizeof(GilHold) == 64);

// In how many threads at a time. Of more nothing is known until a step ends.
inline constexpr uint32_t kMaxTasksNow = 8;

// A step of a task. Written under the GIL. Times are time stamps
// (StartFacts::time_is_tsc).
struct TaskNow {
  std::atomic<uint64_t> task;  // its address
  std::atomic<uint64_t> since;
  std::atomic<uint32_t> thread;  // Linux thread id; 0: no step is under way
  uint32_t unused;
};
static_assert(sizeof(TaskNow) == 24);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_UNDER_WAY_H_
