#include "tracer/heap/heap_native.h"

#include "tracer/base/interposed_state.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/lifetime.h"

namespace pymemrun {
namespace {

// Rounds up as the kernel does. REQUIRES: tracing.
size_t WholePages(size_t bytes) {
  const size_t page = Hot().page_bytes;
  return (bytes + page - 1) & ~(page - 1);
}

}  // namespace

// Whether to record an allocation of this size: all of them, or by the sampler.
inline bool HeapNative::Take(size_t size) const {
  if (all_) return samples_.records() && SideRing::page() != nullptr;
  return sampler_.by_class()
             ? ByClass::Charge(sampler_, size) && samples_.Take<ByClass>(size)
             : ByBytes::Charge(sampler_, size) && samples_.Take<ByBytes>(size);
}

void HeapNative::Start(HeapMode mode) {
  all_ = mode == HeapMode::kAll;
  PymemrunFindInterpreter(&interpreter_start_, &interpreter_end_);
  PymemrunFindArenaFunctions(&map_arena_, &unmap_arena_);
  knows_arenas_ = IsInterpreters(map_arena_);
  on_.store(true, std::memory_order_release);
}

void HeapNative::Allocated(const HeapBlock& block) {
  if (block.address == nullptr || !Take(block.size)) return;
  const HeapInside inside;
  if (all_) {
    HeapAside::Allocated(block);
  } else {
    samples_.Add(block);
  }
}

// Arenas of the interpreter are left out: its allocators are hooked themselves.
void HeapNative::Mapped(const void* start, size_t bytes, const void* caller) {
  if (IsInterpreters(caller) || !Take(bytes)) return;
  const HeapInside inside;
  // Relaxed: a thread that unmaps it has its address from this one, and with
  // that sees the store.
  mapped_.store(true, std::memory_order_relaxed);
  const HeapBlock mapping = {start, bytes, AllocatorKind::kMmap, false, caller};
  if (all_) {
    HeapAside::Allocated(mapping);
  } else {
    samples_.AddMapping(mapping);
  }
}

void HeapNative::Freeing(const void* block) {
  if (block == nullptr) return;
  const HeapInside inside;
  if (all_) {
    HeapAside::Freeing(block);
  } else {
    samples_.Goes(block);
  }
}

HeapNativeUnmap::HeapNativeUnmap(const HeapNative& native, What what,
                                 const void* start, size_t bytes,
                                 const void* caller)
    : wanted_(what != kNothing && bytes > 0 &&
              native.mapped_.load(std::memory_order_relaxed) &&
              !native.IsInterpreters(caller) && TracedPage() != nullptr),
      free_(wanted_ ? start : nullptr, WholePages(bytes), what == kMoves) {}

// Recorded even while recording is off: a mapping that was recorded must be
// found at its new address.
void HeapNativeUnmap::MovedTo(const void* start, size_t bytes,
                              const void* caller) {
  if (!wanted_) return;
  Done();
  const HeapInside inside;
  HeapAside::Allocated({start, bytes, AllocatorKind::kMremap, false, caller});
}

// The free takes its place in the ring before the real call, because another
// thread may get the old address before the call returns.
HeapNativeRealloc::HeapNativeRealloc(HeapNative& native, const void* old)
    : native_(native),
      old_(old),
      was_recorded_(old != nullptr &&
                    (native.all_ || native.samples_.Remove(old))),
      free_(was_recorded_ ? old : nullptr) {}

HeapNativeRealloc::~HeapNativeRealloc() {
  if (!done_ && was_recorded_ && !native_.all_) native_.samples_.PutBack(old_);
}

void HeapNativeRealloc::Made(const HeapBlock& block) {
  done_ = true;
  free_.Freed();
  native_.Allocated(block);
}

}  // namespace pymemrun
