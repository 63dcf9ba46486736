// How a producer waits for the collector, whichever ring is full. Any thread,
// also in a signal handler; keeps errno.
#ifndef PYMEMRUN_TRACER_RING_RING_WAIT_H_
#define PYMEMRUN_TRACER_RING_RING_WAIT_H_

#include <cstdint>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Where a producer of `head` slots or cells may go on: `tail` and `size` are
// the ring's.
struct RingRoom {
  const std::atomic<uint64_t>* tail;
  uint64_t size;
  // Pairs with the release by which the collector gives slots back.
  uint64_t FreeUpTo() const {
    return tail->load(std::memory_order_acquire) + size;
  }
};

// What a wait came to.
enum class RingWait { kRoom, kTimedOut, kCollectorGone };

// Waits until the ring is free up to `end`, for at most 2 s and only while
// there is a collector.
RingWait WaitForRoom(ControlPage* page, const RingRoom& room, uint64_t end);

// Wakes the collector if it sleeps. After `head` was stored.
void WakeCollector(ControlPage* page);

// Whether the collector's process has ended, or has nothing more to do; two or
// three loads.
bool RingCollectorIsGone(const ControlPage* page);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_RING_WAIT_H_
