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
  // Before the free. REQUIRES: CountsFree(block).
  static void Freeing(const void* block);

 private:
  static std::atomic<bool> g_on;
  static const void* g_interpreter_start;
  static const void* g_interpreter_end;
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
  HeapAsideRealloc free_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_NATIVE_H_
