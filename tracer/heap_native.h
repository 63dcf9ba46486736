// Heap events of C code (--native): malloc and its kin, and memory by mmap.
// What Python's allocators ask of them is theirs, and does not count again. Any
// thread, with or without the GIL; nothing allocates.
#ifndef PYMEMRUN_TRACER_HEAP_NATIVE_H_
#define PYMEMRUN_TRACER_HEAP_NATIVE_H_

#include <atomic>
#include <cstddef>

#include "tracer/heap_config.h"
#include "tracer/heap_log.h"

namespace pymemrun {

class HeapNative {
 public:
  static void Start(HeapMode mode);
  // Whether what the calling thread asks for now is to be counted.
  static bool counts() {
    return __builtin_expect(g_on.load(std::memory_order_relaxed), 0) &&
           !t_heap_inside;
  }

  // Whether the free of a block is to be: also within a domain's hook, if that
  // is about to free another. A tool's hook below ours may have asked for it
  // where ours does not say that it is at work.
  static bool CountsFree(const void* block) {
    return __builtin_expect(g_on.load(std::memory_order_relaxed), 0) &&
           (!t_heap_inside ||
            (t_heap_request != kAnySize &&
             t_heap_request != reinterpret_cast<size_t>(block)));
  }

  // Whether the code at that address is CPython's, which maps what its own
  // allocators divide.
  static bool IsInterpreters(const void* code) {
    return code >= g_interpreter_start && code < g_interpreter_end;
  }

  // REQUIRES: counts(). `block` may be null: then nothing happens.
  static void Allocated(const HeapBlock& block);
  // The same of anonymous memory that code at `caller` has mapped.
  static void Mapped(const void* start, size_t bytes, const void* caller);
  // Before the free. REQUIRES: CountsFree(block).
  static void Freeing(const void* block);

 private:
  friend class HeapNativeUnmap;
  static std::atomic<bool> g_on;
  // A mapping has been recorded.
  static std::atomic<bool> g_mapped;
  static const void* g_interpreter_start;
  static const void* g_interpreter_end;
};

// A call of the code at `caller` that unmaps what lies at `start`, or moves it:
// to be made before the call. It tells which pages went, also within an
// allocator's hook: they may be part of any mapping that was recorded. Until
// there is one, nothing is told. In a vfork child it does nothing.
class HeapNativeUnmap {
 public:
  enum What { kNothing, kGoes, kMoves };
  HeapNativeUnmap(What what, const void* start, size_t bytes,
                  const void* caller);
  // The call has not failed.
  void Done() { free_.Freed(); }
  // The same of what moves: it is there now.
  void MovedTo(const void* start, size_t bytes, const void* caller);

 private:
  const bool wanted_;
  HeapAsideFree free_;
};

// A realloc, or another call that may free a block and make one: to be made
// before it. REQUIRES: HeapNative::counts().
class HeapNativeRealloc {
 public:
  explicit HeapNativeRealloc(const void* old);
  ~HeapNativeRealloc();
  // It gave `block`; else it is taken to have failed.
  void Made(const HeapBlock& block);

 private:
  const void* const old_;
  const bool was_recorded_;
  bool done_ = false;
  HeapAsideFree free_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_NATIVE_H_
