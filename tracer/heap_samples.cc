#include "tracer/heap_samples.h"

#include <atomic>

#include "tracer/heap_rate_control.h"
#include "tracer/sampled_blocks.h"

namespace pymemrun {
namespace {

std::atomic<bool> g_recording;

}  // namespace

void HeapSamples::Record(bool on) {
  g_recording.store(on, std::memory_order_relaxed);
}

bool HeapSamples::records() {
  return g_recording.load(std::memory_order_relaxed);
}

void HeapSamples::Add(const HeapBlock& block) {
  const HeapCost cost;
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

void HeapSamples::Goes(const void* block) {
  const HeapCost cost;
  if (Remove(block)) HeapAside::Freeing(block);
}

bool HeapSamples::Remove(const void* block) {
  return SampledBlocks::MayHold(block) && SideRing::page() != nullptr &&
         SampledBlocks::Remove(block);
}

void HeapSamples::PutBack(const void* block) { SampledBlocks::Add(block); }

}  // namespace pymemrun
