// Items of the side ring that carry their thread's stack.
#ifndef PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_
#define PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_

#include <cstdint>

#include "tracer/ring/side_ring.h"

namespace pymemrun {

// The same for a head given by its start. REQUIRES: a whole head follows it.
bool PutCellWithStack(const SideHead& head, const void* caller);

// Sends an item with the stack of the calling thread. `head` has its kind,
// flags, what(), time and the three words after them. `caller`: the code that
// called malloc, for kAlloc; null: not sent. Any thread, also in a signal
// handler; keeps errno. Returns false without room.
template <typename Head>
bool PutWithStack(const Head& head, const void* caller = nullptr) {
  static_assert(sizeof(Head) == kSideCellBytes);
  return PutCellWithStack(head, caller);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_
