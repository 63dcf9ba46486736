#include "tracer/heap_native.h"

#include "tracer/cpython_compat.h"
#include "tracer/heap_samples.h"
#include "tracer/interposed_state.h"

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

// What the kernel makes of a length.
size_t WholePages(size_t bytes) {
  constexpr size_t kPage = 4096;
  return (bytes + kPage - 1) & ~(kPage - 1);
}

}  // namespace

std::atomic<bool> HeapNative::g_on;
std::atomic<bool> HeapNative::g_mapped;
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

void HeapNative::Mapped(const void* start, size_t bytes, const void* caller) {
  if (IsInterpreters(caller) || !Take(bytes)) return;
  const HeapInside inside;
  // Relaxed: a thread that unmaps it has its address from this one, and with
  // that sees the store.
  g_mapped.store(true, std::memory_order_relaxed);
  const HeapBlock mapping = {start, bytes, AllocatorKind::kMmap, false, caller};
  if (g_all) {
    HeapAside::Allocated(mapping);
  } else {
    HeapSamples::AddMapping(mapping);
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

HeapNativeUnmap::HeapNativeUnmap(What what, const void* start, size_t bytes,
                                 const void* caller)
    : wanted_(what != kNothing && bytes > 0 &&
              HeapNative::g_mapped.load(std::memory_order_relaxed) &&
              !HeapNative::IsInterpreters(caller) && TracedPage() != nullptr),
      free_(wanted_ ? start : nullptr, WholePages(bytes), what == kMoves) {}

// It is told whether or not allocations are recorded now: what was recorded
// goes on there.
void HeapNativeUnmap::MovedTo(const void* start, size_t bytes,
                              const void* caller) {
  if (!wanted_) return;
  Done();
  const HeapInside inside;
  HeapAside::Allocated({start, bytes, AllocatorKind::kMremap, false, caller});
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
