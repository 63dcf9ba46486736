#include "readers/replay/heap/heap_stats.h"

#include "readers/output/whole_number.h"

namespace pymemrun {
bool HeapSizes::OnHeap(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const HeapEvent& event = events[i];
    // mremap moves what was allocated before.
    if (event.is_free || event.allocator == HEAP_MREMAP ||
        model().IsTracing(event.stack)) {
      continue;
    }
    sums_[HeapSizeBinOf(event.size)].Add(event.size,
                                         model().WeightNow(event.size));
  }
  return HeapReplay::OnHeap(events, 0);
}

HeapSizeBins HeapSizes::Bins() const {
  HeapSizeBins bins;
  for (size_t i = 0; i < bins.size(); ++i) {
    bins[i].count = WholeNumber(sums_[i].count);
    bins[i].bytes = WholeNumber(sums_[i].bytes);
  }
  return bins;
}

}  // namespace pymemrun
