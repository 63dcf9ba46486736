// The processor's counter, by which both sides of the rings tell the time:
// x86's TSC, or the virtual counter of aarch64's generic timer, which runs at
// one rate on all processors by definition.
#ifndef PYMEMRUN_TRACER_WIRE_TSC_H_
#define PYMEMRUN_TRACER_WIRE_TSC_H_

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace pymemrun {

// Without a barrier, on both: a processor may read it some instructions early.
// 0 on other processors.
inline uint64_t Tsc() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return 0;
#endif
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_TSC_H_
