// Clocks of the collector. Page events, the process watch and all periods use
// CLOCK_MONOTONIC. Times are in nanoseconds.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_MONOTONIC_CLOCK_H_
#define PYMEMRUN_COLLECTOR_PROCESS_MONOTONIC_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace pymemrun {

inline uint64_t ClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}
inline uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }
// CPU time of the calling thread.
inline uint64_t ThreadCpuNs() { return ClockNs(CLOCK_THREAD_CPUTIME_ID); }

// What /proc is asked again and again takes at most half a percent of a CPU:
// the next look comes no sooner than this times the CPU time of the last one.
inline constexpr uint64_t kLookCostFactor = 200;

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_MONOTONIC_CLOCK_H_
