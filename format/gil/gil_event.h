// One entry of a GilBatch.
#ifndef PYMEMRUN_FORMAT_GIL_GIL_EVENT_H_
#define PYMEMRUN_FORMAT_GIL_GIL_EVENT_H_

#include <cstdint>

#include "format/trace.pb.h"

namespace pymemrun {

// GilBatch says what each member means.
struct GilEvent {
  uint64_t time_ns = 0;
  uint32_t thread = 0;
  uint32_t gil = 1;
  GilAction action = GIL_TAKEN;
  // Of those that HasHold().
  uint64_t free_ns = 0;
  uint64_t pauses = 0;
  uint64_t paused_ns = 0;
  // Of those that HasGilStack().
  uint32_t stack = 0;
  uint32_t function = 0;
  // Of those that HasBy().
  uint32_t by = 0;
};

// Whether it says what the thread that took the GIL last did since.
inline bool HasHold(GilAction action) {
  return action == GIL_TAKEN || action == GIL_WAITING || action == GIL_STATE;
}
inline bool HasGilStack(GilAction action) {
  return action == GIL_WAITER || action == GIL_HOLDER;
}

// Whether it says what a thread of a free-threaded interpreter waits for.
inline bool IsOfLocks(GilAction action) { return action >= GIL_LOCK_WAITING; }
inline bool HasBy(GilAction action) {
  return action == GIL_LOCK_TAKEN || action == GIL_GOES_ON;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_GIL_GIL_EVENT_H_
