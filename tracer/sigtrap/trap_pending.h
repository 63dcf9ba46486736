// Pending SIGTRAPs of the program: it has the signal blocked, as it sees it. A
// signal may be pending for one thread or for the process. One for the process
// goes to a thread that waits for it or has it unblocked, as the kernel would
// choose. Async-signal-safe, without locks.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_PENDING_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_PENDING_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace pymemrun {

// Room for one signal. A second one is dropped, as the kernel does for standard
// signals.
class PendingTrap {
 public:
  // Keeps the signal, unless one is pending already.
  void Put(const siginfo_t& info);
  // Removes the pending signal. Returns false without one.
  bool Take(siginfo_t* info);
  bool any() const;
  void Clear() { state_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> state_ = 0;
  uint32_t age_ = 0;  // value of g_drops when it was put
  siginfo_t info_ = {};
};

// Whether the signal was sent to a thread and not to the process. Only si_code
// tells this.
bool IsForThread(const siginfo_t& info);

class TrapMask {
 public:
  // Whether the calling thread has SIGTRAP blocked, as the program sees it.
  static bool blocked();
  // Blocks or unblocks SIGTRAP. Unblocking sends pending signals to this
  // thread.
  static void Set(bool blocked);
  // The same, without sending pending signals.
  static void SetOnly(bool blocked);

  // Keeps a signal that arrived while it was blocked here.
  static void Keep(const siginfo_t& info);
  // Removes the signal that is pending for this thread, or else a signal for
  // the process. Returns false without a pending signal.
  static bool Take(siginfo_t* info);
  static bool TakeOfProcess(siginfo_t* info);
  // Whether the signal only announces a pending signal of the process.
  static bool IsNudge(const siginfo_t& info);
  static bool pending();
  // Drops all pending signals of all threads.
  static void DropPending();

  // Tells other threads whether this one waits for SIGTRAP (sigwait). REQUIRES:
  // it is really blocked.
  static void SetWaiting(bool waiting);

  // In a forked child: nothing is pending or blocked.
  static void Forget();

 private:
  static void Tell();
  static void Offer();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_TRAP_PENDING_H_
