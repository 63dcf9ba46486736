// What both halves of the codec of HeapBatch know of the entries so far, and so
// guess of the next one. FORMAT.md has the rules.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_GUESSES_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_GUESSES_H_

#include <array>
#include <cstdint>

#include "format/batches/heap_contexts.h"
#include "format/batches/heap_free_order.h"
#include "format/batches/heap_pools.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Some 300 KiB, whatever is noted. Not thread safe.
struct HeapGuesses {
  HeapContexts contexts;
  HeapPools pools;
  HeapFreeOrder frees;
  std::array<uint64_t, HeapPools::kClasses> last_of;  // addresses, by class

  HeapGuesses() { Reset(); }
  void Reset() {
    contexts.Reset();
    pools.Reset();
    frees.Reset();
    last_of.fill(0);
  }
  // Blocks of these two come from CPython's pools when they are small.
  static uint32_t ClassOf(uint32_t allocator, uint64_t size) {
    return allocator <= HEAP_MEM ? HeapPools::ClassOf(size) : 0;
  }
  uint64_t Address(uint32_t size_class, uint64_t size) {
    return size_class != 0 ? pools.Next(size_class) : contexts.Large(size);
  }
  void NoteAllocated(uint64_t address, uint32_t size_class, uint64_t size) {
    last_of[size_class] = address;
    if (size_class != 0) {
      pools.Allocated(address, size_class);
    } else {
      contexts.Large(size) = address;
    }
    frees.NoteAllocated(address);
  }
  void NoteFreed(uint64_t address) {
    frees.NoteFreed(address);
    pools.Freed(address);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_GUESSES_H_
