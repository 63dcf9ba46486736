// Heap events of C code (--native): malloc and related functions, and memory
// mapped by mmap. Requests from Python's allocators are counted there, and not
// again here. Any thread, with or without the GIL; nothing allocates.
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
  // Whether an allocation of the calling thread is counted now.
  bool counts() const { return on() && !t_heap_inside; }

  // Whether the free of a block is counted. Inside the hook of a domain it is
  // counted if the hook is about to free another block. Another tool's hook
  // below may have asked for it, without the hook of the tracer knowing.
  bool CountsFree(const void* block) const {
    return on() && (!t_heap_inside ||
                    (t_heap_request != kAnySize &&
                     t_heap_request != reinterpret_cast<size_t>(block)));
  }

  // Whether this is code of CPython, which maps memory for its own allocators.
  // Built-in modules map memory for the program.
  bool IsInterpreters(const void* code) const {
    return code >= interpreter_start_ && code < interpreter_end_ &&
           (!knows_arenas_ || IsIn(map_arena_, code) ||
            IsIn(unmap_arena_, code));
  }

  // Records an allocation; does nothing for null. REQUIRES: counts().
  void Allocated(const HeapBlock& block);
  // The same for anonymous memory mapped by the code at `caller`.
  void Mapped(const void* start, size_t bytes, const void* caller);
  // Call it before the free. REQUIRES: CountsFree(block).
  void Freeing(const void* block);

 private:
  friend class HeapNativeRealloc;
  friend class HeapNativeUnmap;
  bool Take(size_t size) const;
  // Acquire: pairs with the release in Start().
  bool on() const {
    return __builtin_expect(on_.load(std::memory_order_acquire), 0);
  }
  // Whether `code` is in a small function.
  static bool IsIn(const void* function, const void* code) {
    constexpr size_t kMostBytes = 256;
    return reinterpret_cast<uintptr_t>(code) -
               reinterpret_cast<uintptr_t>(function) <
           kMostBytes;
  }

  const HeapSampler& sampler_;
  HeapSamples& samples_;
  std::atomic<bool> on_{false};
  std::atomic<bool> mapped_{false};  // a mapping was recorded
  bool all_ = false;
  const void* interpreter_start_ = nullptr;
  const void* interpreter_end_ = nullptr;
  // False if another tool replaced the functions: its own would call those of
  // CPython, which are not known then.
  bool knows_arenas_ = false;
  const void* map_arena_ = nullptr;
  const void* unmap_arena_ = nullptr;
};

// A call that unmaps or moves memory at `start`; create it before the call.
// Records which pages were released, also inside hooks of allocators, as they
// may belong to any recorded mapping. Records nothing until a mapping was
// recorded. Does nothing in a vfork child.
class HeapNativeUnmap {
 public:
  enum What { kNothing, kGoes, kMoves };
  HeapNativeUnmap(const HeapNative& native, What what, const void* start,
                  size_t bytes, const void* caller);
  // The call succeeded.
  void Done() { free_.Freed(); }
  // The same for a move: the memory is now at `start`.
  void MovedTo(const void* start, size_t bytes, const void* caller);

 private:
  const bool wanted_;
  HeapAsideFree free_;
};

// A realloc, or another call that may free a block and allocate one; create it
// before the call. REQUIRES: native.counts().
class HeapNativeRealloc {
 public:
  HeapNativeRealloc(HeapNative& native, const void* old);
  ~HeapNativeRealloc();
  // The call returned `block`. Without Made() it counts as failed.
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
