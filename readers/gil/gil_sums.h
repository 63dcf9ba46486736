// Times of several threads of a GilReplay, as the sentences of `pymemreport
// gil` say them.
#ifndef PYMEMRUN_READERS_GIL_GIL_SUMS_H_
#define PYMEMRUN_READERS_GIL_GIL_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "readers/gil/gil_replay.h"
#include "readers/places/thread_filter.h"

namespace pymemrun {

struct GilSums {
  size_t threads = 0;
  uint64_t total_ns = 0, waited_ns = 0, held_ns = 0;

  void Add(const GilThreadTimes& times, uint64_t end_ns) {
    ++threads;
    total_ns += times.TotalNs(end_ns);
    waited_ns += times.waited_ns;
    held_ns += times.held_ns;
  }
  // Of total_ns; 0 where that is 0.
  double Share(uint64_t ns) const;
};

// The threads that are kept, and those of them that are held up: by no small
// share of their time, nor of the run's. The replay has finished.
struct KeptGilSums {
  GilSums all, waiters;
};
KeptGilSums GilSumsOf(const GilReplay& replay, ThreadFilter* keep);

// "3.1 %", "31 %".
std::string GilPercent(double share);
// "12.3 ms", or "none".
std::string LongestGilWait(const GilReplay& replay);
// "4 threads wait 61 % of their time for WHAT, 12.3 ms at most".
std::string WhoIsHeldUp(const GilReplay& replay, const GilSums& waiters,
                        const char* what);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_GIL_GIL_SUMS_H_
