#include "tracer/ring/ring_wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/base/clock.h"

namespace pymemrun {
namespace {

constexpr uint64_t kMaxStallNs = 2'000'000'000;
constexpr long kWaitStepNs = 10'000'000;

// Also where it is only about to sleep: then its look at the word comes later.
void Wake(ControlPage* page) {
  page->wake_collector.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &page->wake_collector, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace

void WakeCollector(ControlPage* page) {
  // Pairs with the collector's store of collector_sleeps before it looks at
  // `head` once more: either it sees our head, or we see that it sleeps.
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
