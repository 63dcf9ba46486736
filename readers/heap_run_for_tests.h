// Heap events, and a small run with some. For tests only.
#ifndef PYMEMRUN_READERS_HEAP_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_HEAP_RUN_FOR_TESTS_H_

#include "format/heap_event.h"

namespace pymemrun {

inline HeapEvent AllocEvent(uint64_t time_us, uint64_t address, uint64_t size,
                            uint32_t stack, uint32_t thread = 1) {
  HeapEvent event;
  event.time_us = time_us;
  event.address = address;
  event.size = size;
  event.stack = stack;
  event.thread = thread;
  return event;
}

inline HeapEvent FreeEvent(uint64_t time_us, uint64_t address,
                           uint32_t thread = 1) {
  HeapEvent event;
  event.time_us = time_us;
  event.address = address;
  event.thread = thread;
  event.is_free = true;
  return event;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_RUN_FOR_TESTS_H_
