// What is alive at a moment: in total, and sources by size. Used by reports of
// the heap.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_TOTALS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_TOTALS_H_

#include <cstddef>
#include <vector>

#include "readers/replay/heap/heap_model.h"

namespace pymemrun {

// Sums over all sources.
struct HeapTotals {
  HeapSums live;      // without tracing's own and what is reserved
  HeapSums tracing;   // tracing's own
  HeapSums reserved;  // what C code has mapped
};
HeapTotals TotalsOf(const HeapModel& model, const std::vector<HeapSums>& sums);

// The sources with live bytes, most bytes first.
std::vector<size_t> SourcesByBytes(const HeapModel& model,
                                   const std::vector<HeapSums>& sums);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_TOTALS_H_
