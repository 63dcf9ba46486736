// Time stamps for the hot path: the TSC where the kernel itself trusts it,
// otherwise CLOCK_MONOTONIC nanoseconds. The collector turns them into time.
#ifndef PYMEMRUN_TRACER_CLOCK_H_
#define PYMEMRUN_TRACER_CLOCK_H_

#include <time.h>

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace pymemrun {

inline uint64_t MonotonicNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u +
         static_cast<uint64_t>(t.tv_nsec);
}

inline uint64_t RealtimeNs() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u +
         static_cast<uint64_t>(t.tv_nsec);
}

inline uint64_t TimeStamp(bool is_tsc) {
#if defined(__x86_64__)
  if (__builtin_expect(is_tsc, 1)) return __rdtsc();
#endif
  return MonotonicNs();
}

// Whether the TSC runs at one rate on all CPUs: the kernel's own clock source
// is the TSC (or a paravirtual clock on an invariant one). Reads two files.
bool TscIsInvariant();

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CLOCK_H_
