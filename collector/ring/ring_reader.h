// Consumer of the event ring. Each ring has one reader; the producer is in the
// traced process.
#ifndef PYMEMRUN_COLLECTOR_RING_RING_READER_H_
#define PYMEMRUN_COLLECTOR_RING_RING_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Not thread-safe: it is the single consumer of the ring. `page`, `slots` and
// `reply` are shared memory that must outlive it.
//
// Two pairs of atomics order everything:
//   head: the producer stores the slots, then head with release; Look() loads
//         head with acquire, so the slots below it are complete.
//   tail: Take() copies the slots, then stores tail with release; the producer
//         loads it with acquire before it overwrites them.
//
// The traced program may write anything to page and slots at any time. So slots
// are returned as copies, and `head` only says how far to copy.
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

  // Returns the index after the last published slot; never below tail(). If
  // `head` is invalid, skips the slots that are there.
  uint64_t Look();
  // Copies the oldest slots, at most kMostTaken and below index `end`, and
  // frees them in the ring. The copies are valid until the next call. REQUIRES:
  // Look() has returned `end` or more.
  Span Take(uint64_t end);
  static constexpr size_t kMostTaken = 1024;
  // Number of slots in the ring.
  uint64_t size() const { return size_; }
  // Index of the next slot to take.
  uint64_t tail() const { return tail_; }
  // Wakes a producer that may wait for slots freed since the last call. Take()
  // calls it from time to time.
  void WakeProducer();

  // Waits until the producer wakes this thread, more than `quiet_slots` slots
  // are published, or `timeout_us` has passed.
  void Wait(uint32_t timeout_us, uint64_t quiet_slots);

  // Number of slots skipped because `head` was invalid: the traced program
  // overwrote the page. Otherwise 0.
  uint64_t slots_skipped() const { return slots_skipped_; }

 private:
  const ControlPage* page_;
  const EventSlot* slots_;
  ReplyPage* reply_;
  const uint64_t size_;  // of the ring; read once
  uint64_t tail_;
  uint64_t taken_ = 0;     // slots since producers were woken
  bool may_wait_ = false;  // a producer may have started to wait
  uint64_t slots_skipped_ = 0;
  std::array<EventSlot, kMostTaken> copies_;
};

// Wakes all threads, of any process, that wait on a futex word in shared
// memory.
void WakeSharedFutex(const std::atomic<uint32_t>* word);
// Increments the futex word of waiting producers, and wakes them.
void WakeProducers(ReplyPage* reply);

// Maps both pieces of shared memory during its lifetime. Not thread-safe.
class SharedMemory {
 public:
  // The caller keeps the descriptors. Fails if the memory is not as
  // ring_layout.h describes. Seals the reply, so that no process can map it for
  // writing any more.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Map(int region_fd,
                                                           int reply_fd);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Written by the traced program, which may write anything at any time.
  const ControlPage* page() const { return page_; }
  const EventSlot* slots() const;
  // Written by the collector.
  ReplyPage* reply() const { return reply_; }

  // Allocates the missing pages of the region, so that the traced process has
  // them all when its program starts.
  void MakePages();

  // Shows the traced process that there is a collector, until the calling
  // thread ends or this object is destroyed. Call it at most once.
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
