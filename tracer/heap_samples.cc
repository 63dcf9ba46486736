#include "tracer/heap_samples.h"

#include "tracer/heap_rate_control.h"
#include "tracer/sampled_blocks.h"

namespace pymemrun {

std::atomic<int> HeapSamples::g_state;

void HeapSamples::Record(bool on) {
  if (!on && !has_begun()) return;
  g_state.store(on ? kRecords : kRests, std::memory_order_relaxed);
}

void HeapSamples::Add(const HeapBlock& block) {
  const HeapCost cost;
  HeapRateControl::Took(block.size);
  // Where pymalloc got no more memory, a small request falls through to the raw
  // domain, which may have sampled it too.
  if (Remove(block.address)) HeapAside::Freeing(block.address);
  if (!SampledBlocks::Add(block.address)) {
    ControlPage* page = SideRing::page();  // it may end meanwhile
    if (page != nullptr) {
      page->heap_dropped.fetch_add(1, std::memory_order_relaxed);
    }
  } else if (!HeapAside::Allocated(block)) {
    SampledBlocks::Remove(block.address);
  }
}

void HeapSamples::AddMapping(const HeapBlock& mapping) {
  const HeapCost cost;
  HeapRateControl::Took(mapping.size);
  HeapAside::Allocated(mapping);
}

void HeapSamples::Goes(const void* block) {
  if (!SampledBlocks::IsLikely(block)) return;
  const HeapCost cost;
  if (Remove(block)) HeapAside::Freeing(block);
}

bool HeapSamples::Remove(const void* block) {
  return SampledBlocks::MayHold(block) && SampledBlocks::IsLikely(block) &&
         SideRing::page() != nullptr && SampledBlocks::Remove(block);
}

void HeapSamples::PutBack(const void* block) { SampledBlocks::Add(block); }

}  // namespace pymemrun
