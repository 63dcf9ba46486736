// SIGTRAPs of the program's that wait because it has the signal blocked, as it
// sees it: for a thread, or for whichever thread will take it. A signal for the
// process goes to a thread that waits for it, or has it open, as the kernel
// would choose. Async-signal-safe; no locks.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_PENDING_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_PENDING_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace pymemrun {

// Room for one signal: a second of the same number is dropped, as the kernel
// does.
class PendingTrap {
 public:
  void Put(const siginfo_t& info);
  bool Take(siginfo_t* info);
  bool any() const;
  void Clear() { state_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> state_ = 0;
  uint32_t age_ = 0;  // how often pending ones had been dropped before
  siginfo_t info_ = {};
};

// Whether the signal was sent to a thread: it says so only by how it was sent.
bool IsForThread(const siginfo_t& info);

class TrapMask {
 public:
  // Whether this thread has SIGTRAP blocked, as the program sees it.
  static bool blocked();
  // Blocks it, or opens it; what was pending is then sent to this thread.
  static void Set(bool blocked);
  // The same, but what is pending stays.
  static void SetOnly(bool blocked);

  // Keeps a signal that came while it was blocked here.
  static void Keep(const siginfo_t& info);
  // Takes the one that is pending for this thread, or else for the process.
  static bool Take(siginfo_t* info);
  static bool TakeOfProcess(siginfo_t* info);
  // Whether this is only to say that there is one pending for the process.
  static bool IsNudge(const siginfo_t& info);
  static bool pending();
  // All that is pending, on whatever thread, is dropped.
  static void DropPending();

  // Tells other threads that this one waits for SIGTRAP. REQUIRES: it is really
  // blocked.
  static void SetWaiting(bool waiting);

  // In a forked child: nothing is pending, nothing is blocked.
  static void Forget();

 private:
  static void Tell();
  static void Offer();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_TRAP_PENDING_H_
