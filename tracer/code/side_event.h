// Items of the side ring that carry their thread's stack.
#ifndef PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_
#define PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_

#include <cstdint>

#include "tracer/ring/side_ring.h"

namespace pymemrun {

// As below. REQUIRES: it is the beginning of a whole one.
bool PutCellWithStack(const SideHead& head, const void* caller);

// Sends an item with the calling thread's stack. `head` says its kind, flags,
// what(), time and the three words behind that. `caller`: of kAlloc, the code
// that called malloc; not sent if null. Any thread, in a signal handler too;
// keeps errno. Returns false where there was no room.
template <typename Head>
bool PutWithStack(const Head& head, const void* caller = nullptr) {
  static_assert(sizeof(Head) == kSideCellBytes);
  return PutCellWithStack(head, caller);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_SIDE_EVENT_H_
