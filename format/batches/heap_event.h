// Heap events as readers see them, one at a time.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_EVENT_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_EVENT_H_

#include <cstdint>

#include "format/trace.pb.h"

namespace pymemrun {

// What a free gives back.
enum class HeapFreeOf : uint8_t {
  kBlock,
  kRange,       // of addresses, `size` bytes: what was mapped there
  kMovedRange,  // the same; it is where its thread's next HEAP_MREMAP says
};

// An allocation, or a free. Of a free only the time, the thread and the address
// are known, and of a range its size; the others are 0.
struct HeapEvent {
  uint64_t time_us = 0;
  uint64_t address = 0;
  uint64_t size = 0;    // bytes asked for
  uint32_t stack = 0;   // StackDef.id of the innermost frame
  uint32_t thread = 0;  // ThreadDef.id
  uint32_t code = 0;    // MappingDef.id of the code that called malloc
  HeapAllocator allocator = HEAP_OBJ;
  bool is_free = false;
  HeapFreeOf free_of = HeapFreeOf::kBlock;
};

// What a batch of them holds.
struct HeapBatchFacts {
  uint64_t allocations = 0, frees = 0;
  uint64_t last_us = 0;  // the time of the last one
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_EVENT_H_
