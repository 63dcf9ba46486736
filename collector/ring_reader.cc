#include "collector/ring_reader.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace pymemrun {

// No FUTEX_PRIVATE_FLAG in either: the other side is another process.
void WakeSharedFutex(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

static void WaitSharedFutex(std::atomic<uint32_t>* word, uint32_t expected,
                            uint32_t timeout_us) {
  const timespec timeout = {
      .tv_sec = timeout_us / 1000000,
      .tv_nsec = static_cast<long>(timeout_us % 1000000) * 1000};
  syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

RingReader::Span RingReader::Peek() {
  const uint64_t head = page_->head.load(std::memory_order_acquire);
  uint64_t count = head - tail_;
  if (count > kRingSlots) {
    slots_skipped_ += kRingSlots;
    tail_ = head;
    page_->tail.store(tail_, std::memory_order_release);
    count = 0;
  }
  const uint64_t index = tail_ & (kRingSlots - 1);
  return {slots_ + index, std::min<uint64_t>(count, kRingSlots - index)};
}

void RingReader::Release(size_t count) {
  const uint64_t used = page_->head.load(std::memory_order_relaxed) - tail_;
  tail_ += count;
  page_->tail.store(tail_, std::memory_order_release);
  // A producer waits only when an item finds no room, and an item is far
  // smaller than half the ring; below that nobody can be waiting.
  if (used >= kRingSlots / 2) {
    page_->wake_producer.fetch_add(1, std::memory_order_seq_cst);
    WakeSharedFutex(&page_->wake_producer);
  }
}

void RingReader::Wait(uint32_t timeout_us, uint64_t quiet_slots) {
  page_->wake_collector.store(0, std::memory_order_seq_cst);
  // seq_cst on both sides: the producer publishes head, then looks at
  // collector_sleeps; we announce the sleep, then look at head. One of the two
  // sees the other.
  page_->collector_sleeps.store(1, std::memory_order_seq_cst);
  if (page_->head.load(std::memory_order_seq_cst) - tail_ <= quiet_slots &&
      page_->end_state.load(std::memory_order_seq_cst) == 0) {
    WaitSharedFutex(&page_->wake_collector, 0, timeout_us);
  }
  page_->collector_sleeps.store(0, std::memory_order_relaxed);
}

}  // namespace pymemrun
