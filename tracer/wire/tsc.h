// The processor's counter, by which both sides of the rings tell the time:
// x86's TSC, or the virtual counter of aarch64's generic timer, which runs at
// one rate on all processors by definition.
#ifndef PYMEMRUN_TRACER_WIRE_TSC_H_
#define PYMEMRUN_TRACER_WIRE_TSC_H_

#include <cstdint>

namespace pymemrun {

// Without a barrier, on both: a processor may read it some instructions early.
// 0 on other processors.
inline uint64_t Tsc() {
#if defined(__x86_64__)
  // What __rdtsc() is, without x86intrin.h: that header takes longer to compile
  // than most sources that include this one.
  return __builtin_ia32_rdtsc();
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
