// Items of the side ring that carry their thread's stack.
#ifndef PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_
#define PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_

#include <cstdint>

#include "tracer/ring/side_ring.h"

namespace pymemrun {

// An item's head, as far as its maker knows it.
struct SideFacts {
  SideKind kind;
  uint16_t flags;
  uint16_t detail;  // RangeAction or AllocatorKind
  uint64_t time_ns;
  uint64_t address;
  uint64_t more;
  uint64_t extra;
  const void* caller = nullptr;  // kAlloc: sent with kSideCaller if not null
};

// Sends the item with the calling thread's stack. Any thread, in a signal
// handler too; keeps errno. Returns false where there was no room.
bool PutWithStack(const SideFacts& facts);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_
