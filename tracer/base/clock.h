// Time stamps for the hot path: the TSC where the kernel itself trusts it,
// otherwise CLOCK_MONOTONIC nanoseconds. The collector turns them into time.
#ifndef PYMEMRUN_TRACER_BASE_CLOCK_H_
#define PYMEMRUN_TRACER_BASE_CLOCK_H_

#include <time.h>

#include <cstdint>

#include "tracer/wire/tsc.h"

namespace pymemrun {

// What reads the kernel's clocks. It is libc's, until UseKernelsClock() has
// been called: then the kernel's own, for a preloaded library may show the
// program another time than the collector's.
using ClockFunction = int(clockid_t, timespec*);
inline constinit ClockFunction* g_read_clock = clock_gettime;
void UseKernelsClock();

inline uint64_t ReadClockNs(clockid_t clock) {
  timespec t;
  g_read_clock(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u +
         static_cast<uint64_t>(t.tv_nsec);
}
inline uint64_t MonotonicNs() { return ReadClockNs(CLOCK_MONOTONIC); }
inline uint64_t RealtimeNs() { return ReadClockNs(CLOCK_REALTIME); }

inline uint64_t TimeStamp(bool is_tsc) {
  return __builtin_expect(is_tsc, 1) ? Tsc() : MonotonicNs();
}

// A time stamp, and CLOCK_MONOTONIC at the same moment: the best of several
// tries, for the thread may be interrupted between the two.
struct ClockPair {
  uint64_t stamp;
  uint64_t monotonic_ns;
};
ClockPair BothClocks(bool is_tsc);

// Whether Tsc() runs at one rate on all CPUs: it is the kernel's own clock
// source (or on x86 a paravirtual clock's, on an invariant TSC). Reads two
// files.
bool TscIsInvariant();

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_CLOCK_H_
