// Time stamps for hot paths: the TSC if the kernel itself uses it as its clock,
// otherwise nanoseconds of CLOCK_MONOTONIC. The collector converts them to
// time. Any thread, also in signal handlers.
#ifndef PYMEMRUN_TRACER_BASE_CLOCK_H_
#define PYMEMRUN_TRACER_BASE_CLOCK_H_

#include <time.h>

#include <cstdint>

#include "tracer/wire/tsc.h"

namespace pymemrun {

// Function that reads clocks: clock_gettime of libc, until UseKernelsClock()
// selects that of the kernel (vDSO). A preloaded library may show the program
// another time than the collector sees.
using ClockFunction = int(clockid_t, timespec*);
inline constinit ClockFunction* g_read_clock = clock_gettime;
void UseKernelsClock();

// Time of a clock in nanoseconds.
inline uint64_t ReadClockNs(clockid_t clock) {
  timespec t;
  g_read_clock(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u +
         static_cast<uint64_t>(t.tv_nsec);
}
inline uint64_t MonotonicNs() { return ReadClockNs(CLOCK_MONOTONIC); }
inline uint64_t RealtimeNs() { return ReadClockNs(CLOCK_REALTIME); }

// Current time stamp: TSC units or nanoseconds.
inline uint64_t TimeStamp(bool is_tsc) {
  return __builtin_expect(is_tsc, 1) ? Tsc() : MonotonicNs();
}

// A time stamp and CLOCK_MONOTONIC at the same moment. The best of several
// tries, because the thread may be interrupted between the two.
struct ClockPair {
  uint64_t stamp;
  uint64_t monotonic_ns;
};
ClockPair BothClocks(bool is_tsc);

// Returns whether Tsc() has the same rate on all CPUs: the kernel uses it as
// its clock source, or on x86 a paravirtual clock on an invariant TSC. Reads
// two files.
bool TscIsInvariant();

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_CLOCK_H_
