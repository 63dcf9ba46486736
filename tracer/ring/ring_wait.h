// How a producer of either ring waits for the collector. Any thread, also in a
// signal handler; keeps errno.
#ifndef PYMEMRUN_TRACER_RING_RING_WAIT_H_
#define PYMEMRUN_TRACER_RING_RING_WAIT_H_

#include <cstdint>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Room in a ring. `tail` is the index up to which the collector has read,
// `size` the number of slots or cells.
struct RingRoom {
  const std::atomic<uint64_t>* tail;
  uint64_t size;
  // Index up to which slots may be written. Acquire: pairs with the release by
  // which the collector frees slots, so it has copied them.
  uint64_t FreeUpTo() const {
    return tail->load(std::memory_order_acquire) + size;
  }
};

// Result of a wait.
enum class RingWait { kRoom, kTimedOut, kCollectorGone };

// Waits until the ring has room up to `end`, for at most 2 s, and only while
// there is a collector.
RingWait WaitForRoom(ControlPage* page, const RingRoom& room, uint64_t end);

// Wakes the collector if it sleeps. Call it after `head` was stored.
void WakeCollector(ControlPage* page);

// Returns whether the collector has ended or has finished its work. Takes two
// or three loads.
bool RingCollectorIsGone(const ControlPage* page);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_RING_WAIT_H_
