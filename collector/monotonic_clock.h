// The clock that page events, the process watch and all periods go by.
#ifndef PYMEMRUN_COLLECTOR_MONOTONIC_CLOCK_H_
#define PYMEMRUN_COLLECTOR_MONOTONIC_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace pymemrun {

// CLOCK_MONOTONIC.
inline uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_MONOTONIC_CLOCK_H_
