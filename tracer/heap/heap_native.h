// Heap events of C code (--native): malloc, calloc and so on, and memory by
// mmap. What Python's allocators ask of them counts there, and not again. Any
// thread, with or without the GIL; nothing allocates.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_NATIVE_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_NATIVE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/heap_config.h"
#include "tracer/heap/heap_log.h"
#include "tracer/heap/heap_samples.h"

namespace pymemrun {

class HeapNative {
 public:
  constexpr HeapNative(const HeapSampler& sampler, HeapSamples& samples)
      : sampler_(sampler), samples_(samples) {}

  void Start(HeapMode mode);
  // Whether what the calling thread asks for now is to be counted.
  bool counts() const { return on() && !t_heap_inside; }

  // Whether the free of a block is to be counted. Within a domain's hook it is,
  // if the hook is about to free another block. A tool's hook below ours may
  // have asked for it where ours does not say that it is at work.
  bool CountsFree(const void* block) const {
    return on() && (!t_heap_inside ||
                    (t_heap_request != kAnySize &&
                     t_heap_request != reinterpret_cast<size_t>(block)));
  }

  // Whether the code at that address is CPython's, which maps what its own
  // allocators divide. Modules that are built into it map for the program.
  bool IsInterpreters(const void* code) const {
    return code >= interpreter_start_ && code < interpreter_end_ &&
           (!knows_arenas_ || IsIn(map_arena_, code) ||
            IsIn(unmap_arena_, code));
  }

  // REQUIRES: counts(). `block` may be null: then nothing happens.
  void Allocated(const HeapBlock& block);
  // The same of anonymous memory that code at `caller` has mapped.
  void Mapped(const void* start, size_t bytes, const void* caller);
  // Before the free. REQUIRES: CountsFree(block).
  void Freeing(const void* block);

 private:
  friend class HeapNativeRealloc;
  friend class HeapNativeUnmap;
  bool Take(size_t size) const;
  // Pairs with the release in Start().
  bool on() const {
    return __builtin_expect(on_.load(std::memory_order_acquire), 0);
  }
  // Whether a call at `code` is one of a small function's.
  static bool IsIn(const void* function, const void* code) {
    constexpr size_t kMostBytes = 256;
    return reinterpret_cast<uintptr_t>(code) -
               reinterpret_cast<uintptr_t>(function) <
           kMostBytes;
  }

  const HeapSampler& sampler_;
  HeapSamples& samples_;
  std::atomic<bool> on_{false};
  std::atomic<bool> mapped_{false};  // a mapping has been recorded
  bool all_ = false;
  const void* interpreter_start_ = nullptr;
  const void* interpreter_end_ = nullptr;
  // A tool's own functions would call CPython's, which are not known then.
  bool knows_arenas_ = false;
  const void* map_arena_ = nullptr;
  const void* unmap_arena_ = nullptr;
};

// A call of the code at `caller` that unmaps what lies at `start`, or moves it:
// to be made before the call. It tells which pages went, also within an
// allocator's hook: they may be part of any mapping that was recorded. Until
// there is one, nothing is told. In a vfork child it does nothing.
class HeapNativeUnmap {
 public:
  enum What { kNothing, kGoes, kMoves };
  HeapNativeUnmap(const HeapNative& native, What what, const void* start,
                  size_t bytes, const void* caller);
  // The call has not failed.
  void Done() { free_.Freed(); }
  // The same of what moves: it is there now.
  void MovedTo(const void* start, size_t bytes, const void* caller);

 private:
  const bool wanted_;
  HeapAsideFree free_;
};

// A realloc, or another call that may free a block and make one: to be made
// before it. REQUIRES: native.counts().
class HeapNativeRealloc {
 public:
  HeapNativeRealloc(HeapNative& native, const void* old);
  ~HeapNativeRealloc();
  // It gave `block`; else it is taken to have failed.
  void Made(const HeapBlock& block);

 private:
  HeapNative& native_;
  const void* const old_;
  const bool was_recorded_;
  bool done_ = false;
  HeapAsideFree free_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_NATIVE_H_
