// Allocations by size: `pymemreport summary --stats`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STATS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STATS_H_

#include <array>

#include "format/batches/heap_size_table.h"
#include "readers/replay/heap/heap_replay.h"

namespace pymemrun {

// Counts the allocations of the program, not tracing's own. Not thread safe.
class HeapSizes final : public HeapReplay {
 public:
  bool OnHeap(const HeapEvent* events, size_t count) override;
  // Estimates, if the run was sampled.
  HeapSizeBins Bins() const;
  using Sums = std::array<HeapSums, HeapSizeBins().size()>;
  const Sums& sums() const { return sums_; }

 private:
  Sums sums_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STATS_H_
