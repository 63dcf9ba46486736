#include "tracer/ring/ring_wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/base/clock.h"

namespace pymemrun {
namespace {

// The longest wait, and the step in which a waiting producer looks for a dead
// collector, in nanoseconds.
constexpr uint64_t kMaxStallNs = 2'000'000'000;
constexpr long kWaitStepNs = 10'000'000;

// Also works if the collector is only about to sleep: it read the futex word
// before it announced its sleep, so FUTEX_WAIT finds another value and returns.
void Wake(ControlPage* page) {
  page->wake_collector.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &page->wake_collector, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace

void WakeCollector(ControlPage* page) {
  // A store followed by a load of another word, on both sides (Dekker). The
  // collector stores collector_sleeps and then loads `head`; the producer has
  // stored `head` and now loads collector_sleeps. With a full fence on both
  // sides at least one of them sees the other's store, so no wake is lost.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const ReplyPage& reply = ReplyOf(page);
  if (reply.collector_sleeps.load(std::memory_order_relaxed) != 0) Wake(page);
}

RingWait WaitForRoom(ControlPage* page, const RingRoom& room, uint64_t end) {
  const int saved_errno = errno;
  const ReplyPage& reply = ReplyOf(page);
  const uint64_t give_up = MonotonicNs() + kMaxStallNs;
  RingWait outcome = RingWait::kRoom;
  while (end > room.FreeUpTo()) {
    outcome = RingCollectorIsGone(page) ? RingWait::kCollectorGone
                                        : RingWait::kTimedOut;
    if (outcome == RingWait::kCollectorGone || MonotonicNs() >= give_up) break;
    // The word is read before the room is tested again. If the collector frees
    // slots in between, it has changed the word, and FUTEX_WAIT returns at
    // once. The timeout is there for a collector that dies.
    const uint32_t seen = reply.wake_producer.load(std::memory_order_acquire);
    Wake(page);
    outcome = RingWait::kRoom;
    if (end <= room.FreeUpTo()) break;
    const timespec step = {0, kWaitStepNs};
    syscall(SYS_futex, &reply.wake_producer, FUTEX_WAIT, seen, &step, nullptr,
            0);
  }
  errno = saved_errno;
  return outcome;
}

bool RingCollectorIsGone(const ControlPage* page) {
  const ReplyPage& reply = ReplyOf(page);
  return reply.done_state.load(std::memory_order_acquire) != 0 ||
         (reply.collector_pid.load(std::memory_order_acquire) != 0 &&
          HolderDied(reply.collector_alive));
}

}  // namespace pymemrun
