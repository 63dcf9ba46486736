#include "tracer/heap_native.h"

#include "tracer/cpython_compat.h"
#include "tracer/heap_samples.h"

namespace pymemrun {
namespace {

bool g_all = false;

// Whether the allocation is to be recorded.
bool Take(size_t size) {
  if (g_all) return HeapSamples::records() && SideRing::page() != nullptr;
  return HeapSampler::by_class()
             ? ByClass::Charge(size) && HeapSamples::Take<ByClass>(size)
             : ByBytes::Charge(size) && HeapSamples::Take<ByBytes>(size);
}

}  // namespace

std::atomic<bool> HeapNative::g_on;
const void* HeapNative::g_interpreter_start = nullptr;
const void* HeapNative::g_interpreter_end = nullptr;

void HeapNative::Start(HeapMode mode) {
  g_all = mode == HeapMode::kAll;
  PymemrunFindInterpreter(&g_interpreter_start, &g_interpreter_end);
  g_on.store(true, std::memory_order_relaxed);
}

void HeapNative::Allocated(const HeapBlock& block) {
  if (block.address == nullptr || !Take(block.size)) return;
  const HeapInside inside;
  if (g_all) {
    HeapAside::Allocated(block);
  } else {
    HeapSamples::Add(block);
  }
}

void HeapNative::Freeing(const void* block) {
  if (block == nullptr) return;
  const HeapInside inside;
  if (g_all) {
    HeapAside::Freeing(block);
  } else {
    HeapSamples::Goes(block);
  }
}

HeapNativeRealloc::HeapNativeRealloc(const void* old)
    : old_(old),
      was_recorded_(old != nullptr && (g_all || HeapSamples::Remove(old))),
      free_(was_recorded_ ? old : nullptr) {}

HeapNativeRealloc::~HeapNativeRealloc() {
  if (!done_ && was_recorded_ && !g_all) HeapSamples::PutBack(old_);
}

void HeapNativeRealloc::Made(const HeapBlock& block) {
  done_ = true;
  free_.Freed();
  HeapNative::Allocated(block);
}

}  // namespace pymemrun
