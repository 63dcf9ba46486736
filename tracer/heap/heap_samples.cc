#include "tracer/heap/heap_samples.h"

namespace pymemrun {

void HeapSamples::Record(bool on) {
  if (!on && !has_begun()) return;
  state_.store(on ? kRecords : kRests, std::memory_order_relaxed);
}

void HeapSamples::WaitForGrowth(void (*call)()) {
  unheard_.store(0, std::memory_order_relaxed);
  grows_ = call;
  if (call != nullptr) HeapSampler::Rest(kWorthBytes);
}

// Exactly one call crosses the threshold, so the function is called once.
void HeapSamples::Unheard(size_t bytes) const {
  if (grows_ == nullptr) return;
  const size_t before = unheard_.fetch_add(bytes, std::memory_order_relaxed);
  if (before < kWorthBytes && before + bytes >= kWorthBytes) grows_();
}

void HeapSamples::Add(const HeapBlock& block) {
  const HeapCost cost(control_);
  control_.Took(block.size);
  // If pymalloc gets no memory, a small request falls through to the raw
  // domain, which may have sampled the block already.
  if (Remove(block.address)) HeapAside::Freeing(block.address);
  if (!blocks_.Add(block.address)) {
    ControlPage* page = SideRing::page();  // tracing may end at any time
    if (page != nullptr) {
      page->heap_dropped.fetch_add(1, std::memory_order_relaxed);
    }
  } else if (!HeapAside::Allocated(block)) {
    blocks_.Remove(block.address);
  }
  control_.Recorded();
}

void HeapSamples::AddMapping(const HeapBlock& mapping) {
  const HeapCost cost(control_);
  control_.Took(mapping.size);
  HeapAside::Allocated(mapping);
  control_.Recorded();
}

// Before the real free: another thread may get the address right after it.
void HeapSamples::Goes(const void* block) {
  if (!blocks_.IsLikely(block)) return;
  const HeapCost cost(control_);
  if (Remove(block)) HeapAside::Freeing(block);
}

bool HeapSamples::Remove(const void* block) {
  return blocks_.MayHold(block) && blocks_.IsLikely(block) &&
         SideRing::page() != nullptr && blocks_.Remove(block);
}

}  // namespace pymemrun
