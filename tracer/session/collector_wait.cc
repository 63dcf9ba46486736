#include "tracer/session/collector_wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/ring/event_ring.h"
#include "tracer/ring/ring_wait.h"

namespace pymemrun {
namespace {

// The collector could use the whole start of the interpreter to get ready.
// After this time it counts as dead.
constexpr uint64_t kCollectorReadyNs = 2'000'000'000;
// The collector wakes this process when it is ready, but not when it ends
// before.
constexpr uint64_t kLookAgainNs = 5'000'000;
// A collector without a heartbeat for this long is stuck. The end of the
// program waits no longer than a full ring does.
constexpr uint64_t kSilenceNs = 2'000'000'000;

void FutexWait(const std::atomic<uint32_t>* word, uint32_t seen, uint64_t ns) {
  const timespec timeout = {static_cast<time_t>(ns / 1000000000),
                            static_cast<long>(ns % 1000000000)};
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

// Whether a process that is not a child has ended, reaped or not. A pidfd
// becomes readable then (pidfd_open(2)).
bool HasEnded(pid_t pid) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd end = {.fd = fd, .events = POLLIN, .revents = 0};
  const bool has_ended = poll(&end, 1, 0) > 0;
  syscall(SYS_close, fd);
  return has_ended;
}

}  // namespace

void WakeFutex(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// Also true if it ended before it was ready, for instance for lack of memory.
bool CollectorWait::IsGone() const {
  if (ReplyOf(page_).collector_pid.load(std::memory_order_acquire) != 0) {
    return RingCollectorIsGone(page_);
  }
  return pid_ != 0 && HasEnded(pid_);
}

// Polls in steps, because a collector that dies wakes no one.
bool CollectorWait::UntilReady() const {
  const ReplyPage& reply = ReplyOf(page_);
  const uint64_t give_up = MonotonicNs() + kCollectorReadyNs;
  while (reply.collector_pid.load(std::memory_order_acquire) == 0) {
    if (MonotonicNs() >= give_up || IsGone()) return false;
    FutexWait(&reply.collector_pid, 0, kLookAgainNs);
  }
  return true;
}

// A collector that beats but is not done has a slow disk: then `still_writing`
// is set.
bool CollectorWait::UntilComplete(const RingStall& stall, uint64_t timeout_ns,
                                  bool* still_writing) const {
  const ReplyPage& reply = ReplyOf(page_);
  uint64_t now = MonotonicNs();
  const uint64_t give_up = now + timeout_ns;
  // After a stall that timed out the program has waited enough.
  uint64_t beat_ns = IsSilent(stall, page_) ? now - kSilenceNs : now;
  uint32_t beat = reply.heartbeat.load(std::memory_order_relaxed);
  while (reply.done_state.load(std::memory_order_acquire) == 0) {
    now = MonotonicNs();
    const uint32_t seen = reply.heartbeat.load(std::memory_order_relaxed);
    if (seen != beat) beat_ns = now;
    beat = seen;
    if (now - beat_ns >= kSilenceNs || IsGone()) break;
    if (now >= give_up) {
      *still_writing = true;
      break;
    }
    FutexWait(&reply.done_state, 0, 20'000'000);
  }
  return reply.done_state.load(std::memory_order_acquire) != 0;
}

}  // namespace pymemrun
