// The consumer side of the ring. One reader per ring; the producer side is in
// the traced process.
#ifndef PYMEMRUN_COLLECTOR_RING_RING_READER_H_
#define PYMEMRUN_COLLECTOR_RING_RING_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Not thread safe: it is the ring's single consumer. `page`, `slots` and
// `reply` are shared memory that must outlive it.
//
// Two pairs of atomics carry all the order there is:
//   head: the producer stores the slots, then head with release; Look() loads
//         head with acquire, so the slots below it are whole.
//   tail: Take() stores tail with release after it has copied the slots; the
//         producer loads it with acquire before it writes over them.
//
// The traced program may write anything over page and slots, at any time. So
// slots are given out as copies, and `head` only says how far to copy.
class RingReader {
 public:
  struct Span {
    const EventSlot* slots;
    size_t count;
  };

  RingReader(const ControlPage* page, const EventSlot* slots, ReplyPage* reply)
      : page_(page),
        slots_(slots),
        reply_(reply),
        size_(RingSlots(*page)),
        tail_(reply->tail.load(std::memory_order_relaxed)) {}

  // The index behind the last slot that is published now; never below tail().
  // Where `head` makes no sense, what is there is passed over.
  uint64_t Look();
  // Copies the oldest slots, at most kMostTaken and below index `end`, and
  // gives them back. They stay valid until the next call. REQUIRES: Look() has
  // returned `end` or more.
  Span Take(uint64_t end);
  static constexpr size_t kMostTaken = 1024;
  // How many slots there are.
  uint64_t size() const { return size_; }
  // Index of the slot that is next.
  uint64_t tail() const { return tail_; }
  // Wakes a producer that may be waiting for what Take() gave back since the
  // last call. Take() calls it now and then.
  void WakeProducer();

  // Waits until the producer wakes us, more than `quiet_slots` wait, or
  // `timeout_us` is over.
  void Wait(uint32_t timeout_us, uint64_t quiet_slots);

  // Slots passed over because head made no sense (the traced program wrote
  // over the page): 0 unless it is broken.
  uint64_t slots_skipped() const { return slots_skipped_; }

 private:
  const ControlPage* page_;
  const EventSlot* slots_;
  ReplyPage* reply_;
  const uint64_t size_;  // of the ring, as it was said once
  uint64_t tail_;
  uint64_t taken_ = 0;     // since a waiting producer was woken...
  bool may_wait_ = false;  // ...if one can have been waiting meanwhile
  uint64_t slots_skipped_ = 0;
  std::array<EventSlot, kMostTaken> copies_;
};

// Wakes all waiters on a futex word in shared memory, of any process.
void WakeSharedFutex(const std::atomic<uint32_t>* word);
// Counts the word of producers that wait up, and wakes them.
void WakeProducers(ReplyPage* reply);

// The collector's end of what it shares with the traced process.

// Maps both pieces for as long as it lives. Not thread safe.
class SharedMemory {
 public:
  // The descriptors stay the caller's. Fails when the memory is not what
  // ring_layout.h says. From then on nobody can map the reply to write.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Map(int region_fd,
                                                           int reply_fd);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // The traced program's: it may write anything there, at any time.
  const ControlPage* page() const { return page_; }
  const EventSlot* slots() const;
  // Ours.
  ReplyPage* reply() const { return reply_; }

  // Makes the pages of the region that are not there yet, for the traced
  // process, which is to have them all when its program begins.
  void MakePages();

  // From here on, until the calling thread ends or this goes, the traced
  // process sees that there is a collector. At most once.
  void ShowLife();

 private:
  SharedMemory(const ControlPage* page, ReplyPage* reply)
      : page_(page), reply_(reply) {}

  const ControlPage* const page_;
  ReplyPage* const reply_;
  bool shows_life_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RING_RING_READER_H_
