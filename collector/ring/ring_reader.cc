#include "collector/ring/ring_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// Waiting producers are woken after this many slots were freed, so that they
// continue early.
constexpr uint64_t kPieceSlots = 16384;

}  // namespace

// These futexes lack FUTEX_PRIVATE_FLAG, because the other side is another
// process.
void WakeSharedFutex(const std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

static void WaitSharedFutex(const std::atomic<uint32_t>* word,
                            uint32_t expected, uint32_t timeout_us) {
  const timespec timeout = {
      .tv_sec = timeout_us / 1000000,
      .tv_nsec = static_cast<long>(timeout_us % 1000000) * 1000};
  syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void WakeProducers(ReplyPage* reply) {
  reply->wake_producer.fetch_add(1, std::memory_order_seq_cst);
  WakeSharedFutex(&reply->wake_producer);
}

// A head beyond the ring's size cannot come from the tracer, which waits for
// the tail. The program has overwritten it; everything there is skipped.
uint64_t RingReader::Look() {
  const uint64_t head = page_->head.load(std::memory_order_acquire);
  if (head - tail_ > size_) {
    slots_skipped_ += size_;
    tail_ = head;
    reply_->tail.store(tail_, std::memory_order_release);
  }
  return head;
}

// Copies the slots before anything looks at them, because the program may
// change them at any time.
RingReader::Span RingReader::Take(uint64_t end) {
  const uint64_t count = std::min<uint64_t>(end - tail_, kMostTaken);
  const uint64_t index = tail_ & (size_ - 1);
  const uint64_t first = std::min(count, size_ - index);
  std::memcpy(copies_.data(), slots_ + index, first * sizeof(EventSlot));
  std::memcpy(copies_.data() + first, slots_,
              (count - first) * sizeof(EventSlot));
  // A producer waits only if an item does not fit, and an item is far smaller
  // than half the ring. Below that no producer can be waiting.
  const uint64_t used = page_->head.load(std::memory_order_relaxed) - tail_;
  may_wait_ |= used >= size_ / 2;
  tail_ += count;
  reply_->tail.store(tail_, std::memory_order_release);
  taken_ += count;
  if (taken_ >= kPieceSlots) WakeProducer();
  return {copies_.data(), count};
}

void RingReader::WakeProducer() {
  if (may_wait_ && taken_ > 0) WakeProducers(reply_);
  may_wait_ = false;
  taken_ = 0;
}

// Sleeps until the producer wakes the collector, or until the timeout, but not
// if more than `quiet_slots` wait.
void RingReader::Wait(uint32_t timeout_us, uint64_t quiet_slots) {
  // Read before the looks below: a wake after them changes the word, so
  // FUTEX_WAIT returns at once (futex(2)).
  const uint32_t seen = page_->wake_collector.load(std::memory_order_acquire);
  // seq_cst on both sides: the producer publishes head, then looks at
  // collector_sleeps; we announce the sleep, then look at head. One of the two
  // sees the other.
  reply_->collector_sleeps.store(1, std::memory_order_seq_cst);
  if (page_->head.load(std::memory_order_seq_cst) - tail_ <= quiet_slots &&
      page_->end_state.load(std::memory_order_seq_cst) == 0) {
    WaitSharedFutex(&page_->wake_collector, seen, timeout_us);
  }
  reply_->collector_sleeps.store(0, std::memory_order_relaxed);
}

}  // namespace pymemrun

// Since Linux 5.1; Debian 12's <fcntl.h> has it only with some macros.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
// Since Linux 5.14.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace pymemrun {
namespace {

// Access beyond the end of a shorter file would end the collector by SIGBUS.
bool HasBytes(int fd, size_t bytes) {
  struct stat status;
  return fstat(fd, &status) == 0 &&
         static_cast<uint64_t>(status.st_size) >= bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Map(int region_fd,
                                                                int reply_fd) {
  if (!HasBytes(region_fd, kControlBytes) || !HasBytes(reply_fd, kReplyBytes)) {
    return absl::FailedPreconditionError("the shared memory is too short");
  }
  void* region =
      mmap(nullptr, kRegionBytes, PROT_READ, MAP_SHARED, region_fd, 0);
  void* reply = mmap(nullptr, kReplyBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                     reply_fd, 0);
  const int why = errno;
  if (region != MAP_FAILED && reply != MAP_FAILED) {
    // No descriptor can become a writable mapping any more. Kernels before 5.1
    // lack this seal: there the launcher has closed its descriptor.
    fcntl(reply_fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
    std::unique_ptr<SharedMemory> memory(
        new SharedMemory(static_cast<const ControlPage*>(region),
                         static_cast<ReplyPage*>(reply)));
    const ControlPage& page = *memory->page_;
    if (page.magic == kRingMagic && page.version == kWireVersion &&
        HasBytes(region_fd, RegionBytes(page))) {
      return memory;
    }
    return absl::FailedPreconditionError(
        "the shared region is not one of this version");
  }
  if (region != MAP_FAILED) munmap(region, kRegionBytes);
  if (reply != MAP_FAILED) munmap(reply, kReplyBytes);
  return absl::InternalError(
      absl::StrCat("cannot map the shared memory: ", strerror(why)));
}

SharedMemory::~SharedMemory() {
  if (shows_life_) pthread_mutex_unlock(&reply_->collector_alive);
  munmap(const_cast<ControlPage*>(page_), kRegionBytes);
  munmap(reply_, kReplyBytes);
}

const EventSlot* SharedMemory::slots() const {
  return reinterpret_cast<const EventSlot*>(
      reinterpret_cast<const char*>(page_) + kControlBytes);
}

// One call instead of a fault for each page of the ring.
void SharedMemory::MakePages() {
  madvise(const_cast<ControlPage*>(page_), RegionBytes(*page_),
          MADV_POPULATE_READ);
}

void SharedMemory::ShowLife() {
  MakeSignOfLife(&reply_->collector_alive);
  pthread_mutex_lock(&reply_->collector_alive);
  shows_life_ = true;
  reply_->collector_pid.store(static_cast<uint32_t>(getpid()),
                              std::memory_order_release);
  WakeSharedFutex(&reply_->collector_pid);
}

}  // namespace pymemrun
