// The consumer side of the ring. One reader per ring; the producer side is in
// the traced process.
#ifndef PYMEMRUN_COLLECTOR_RING_READER_H_
#define PYMEMRUN_COLLECTOR_RING_READER_H_

#include <cstddef>
#include <cstdint>

#include "tracer/ring_layout.h"

namespace pymemrun {

// Not thread safe: it is the ring's single consumer. `page` and `slots` are
// shared memory that must outlive it.
//
// Two pairs of atomics carry all the order there is:
//   head: the producer stores the slots, then head with release; Peek() loads
//         head with acquire, so the slots below it are whole.
//   tail: Release() stores tail with release after the last read of the slots;
//         the producer loads it with acquire before it writes over them.
class RingReader {
 public:
  struct Span {
    const EventSlot* slots;
    size_t count;
  };

  RingReader(ControlPage* page, const EventSlot* slots)
      : page_(page),
        slots_(slots),
        tail_(page->tail.load(std::memory_order_relaxed)) {}

  // The published slots that lie in one piece from the oldest on; those beyond
  // the ring's edge come with the next call. count is 0 when there are none.
  // They stay valid until they are released.
  Span Peek();

  // Gives the oldest `count` slots back, and wakes a producer that may be
  // waiting for room. REQUIRES: Peek() has shown them.
  void Release(size_t count);

  // Slots published and not yet released.
  uint64_t backlog() const {
    return page_->head.load(std::memory_order_acquire) - tail_;
  }

  // Waits until the producer wakes us, slots are there, or `timeout_us` is
  // over. `quiet_slots`: so many waiting slots are no reason to stay awake.
  void Wait(uint32_t timeout_us, uint64_t quiet_slots);

  // Slots passed over because head made no sense (the traced program wrote
  // over the page): 0 unless it is broken.
  uint64_t slots_skipped() const { return slots_skipped_; }

 private:
  ControlPage* page_;
  const EventSlot* slots_;
  // Our own copy: what stands in the page is for the producer to read.
  uint64_t tail_;
  uint64_t slots_skipped_ = 0;
};

// Wakes all waiters on a futex word in shared memory, of any process.
void WakeSharedFutex(std::atomic<uint32_t>* word);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RING_READER_H_
