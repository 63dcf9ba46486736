// Heap events as readers get them.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_EVENT_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_EVENT_H_

#include <cstdint>

#include "format/trace.pb.h"

namespace pymemrun {

// What a free releases.
enum class HeapFreeOf : uint8_t {
  kBlock,
  kRange,       // mapped addresses, `size` bytes
  kMovedRange,  // moved to the next HEAP_MREMAP of its thread
};

// An allocation or a free. A free has only a time, a thread and an address;
// that of a range also a size. Its other fields are 0.
struct HeapEvent {
  uint64_t time_us = 0;
  uint64_t address = 0;
  uint64_t size = 0;    // requested bytes
  uint32_t stack = 0;   // StackDef.id of the innermost frame
  uint32_t thread = 0;  // ThreadDef.id
  uint32_t code = 0;    // MappingDef.id of the code that called malloc
  HeapAllocator allocator = HEAP_OBJ;
  bool is_free = false;
  HeapFreeOf free_of = HeapFreeOf::kBlock;
};

// Summary of a batch.
struct HeapBatchFacts {
  uint64_t allocations = 0, frees = 0;
  uint64_t last_us = 0;  // time of the last event
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_EVENT_H_
