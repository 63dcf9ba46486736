// Whether a process grew all the time, and at which line.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_GROWTH_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_GROWTH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/across_runs/processes/memory_curve.h"
#include "readers/answer/memory/place_curves.h"

namespace pymemrun {

struct ProcessGrowth {
  uint64_t bytes = 0;  // see SteadyGrowth(); 0: it did not
  // The line that grew most; empty: not known.
  std::string line;
  uint64_t line_bytes = 0;
  uint64_t span_us = 0;  // in which it did, until the process's end
};

// `curves`: by kWorkLine, at these moments. `rss`: as it was read. While a
// process loads what it needs it grows, and leaks nothing. So the time counts
// from when half of what imports have at most was there, or nine tenths. A line
// that grew all the time is enough: its blocks may lie in memory that RSS had
// before.
ProcessGrowth FindGrowth(const PlaceCurves& curves, const EvenSteps& steps,
                         const std::vector<MemoryStep>& rss);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_GROWTH_H_
