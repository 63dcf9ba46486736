// Heap events of what C code maps. For tests only.
#ifndef PYMEMRUN_READERS_TESTING_MAPPING_EVENTS_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_MAPPING_EVENTS_FOR_TESTS_H_

#include <vector>

#include "readers/testing/heap_run_for_tests.h"

namespace pymemrun {

inline HeapEvent MapEvent(uint64_t time_us, uint64_t address, uint64_t size,
                          uint32_t stack, uint32_t thread = 1) {
  HeapEvent event = AllocEvent(time_us, address, size, stack, thread);
  event.allocator = HEAP_MMAP;
  return event;
}

inline HeapEvent UnmapEvent(uint64_t time_us, uint64_t address, uint64_t bytes,
                            uint32_t thread = 1) {
  HeapEvent event = FreeEvent(time_us, address, thread);
  event.size = bytes;
  event.free_of = HeapFreeOf::kRange;
  return event;
}

inline std::vector<HeapEvent> MoveEvents(uint64_t time_us, uint64_t from,
                                         uint64_t old_bytes, uint64_t to,
                                         uint64_t bytes, uint32_t stack,
                                         uint32_t thread = 1) {
  HeapEvent goes = UnmapEvent(time_us, from, old_bytes, thread);
  goes.free_of = HeapFreeOf::kMovedRange;
  HeapEvent comes = MapEvent(time_us, to, bytes, stack, thread);
  comes.allocator = HEAP_MREMAP;
  return {goes, comes};
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_MAPPING_EVENTS_FOR_TESTS_H_
