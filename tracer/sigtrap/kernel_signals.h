// SIGTRAP as the kernel sees it: the real mask and the real queue, unlike the
// virtual ones of the program. By system calls, so the interposed functions are
// not involved. Async-signal-safe; functions may change errno.
#ifndef PYMEMRUN_TRACER_SIGTRAP_KERNEL_SIGNALS_H_
#define PYMEMRUN_TRACER_SIGTRAP_KERNEL_SIGNALS_H_

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace pymemrun {

// A signal mask as the kernel stores it: the first word of sigset_t.
using KernelMask = uint64_t;
inline constexpr KernelMask kTrapBit = KernelMask{1} << (SIGTRAP - 1);

inline KernelMask FirstWord(const sigset_t* set) {
  KernelMask mask;
  memcpy(&mask, set, sizeof(mask));
  return mask;
}

inline void SetFirstWord(sigset_t* set, KernelMask mask) {
  memcpy(set, &mask, sizeof(mask));
}

// Changes the real mask of the thread. Returns the previous one.
inline KernelMask ChangeRealMask(int how, KernelMask mask) {
  KernelMask was = 0;
  syscall(SYS_rt_sigprocmask, how, &mask, &was, sizeof(mask));
  return was;
}

inline bool TrapIsReallyBlocked() {
  return (ChangeRealMask(SIG_BLOCK, 0) & kTrapBit) != 0;
}

// Blocks SIGTRAP on this thread for its lifetime. A page signal in this time
// arrives late, at the end.
class TrapBlock {
 public:
  TrapBlock() : was_(ChangeRealMask(SIG_BLOCK, kTrapBit)) {}
  ~TrapBlock() {
    if (!was_blocked()) ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  }
  TrapBlock(const TrapBlock&) = delete;
  TrapBlock& operator=(const TrapBlock&) = delete;
  bool was_blocked() const { return (was_ & kTrapBit) != 0; }

 private:
  KernelMask was_;
};

inline pid_t ThreadNumber() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// Sends a SIGTRAP with this information to a thread. Returns whether this
// process has such a thread.
inline bool SendTrapTo(pid_t thread, const siginfo_t& info) {
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, SIGTRAP, &info) == 0;
}

inline void SendTrapToSelf(const siginfo_t& info) {
  SendTrapTo(ThreadNumber(), info);
}

// Removes a SIGTRAP that is really pending for this thread. Returns whether
// there was one. REQUIRES: it is really blocked.
inline bool TakeRealTrap(siginfo_t* info) {
  const KernelMask mask = kTrapBit;
  const timespec now = {};
  return syscall(SYS_rt_sigtimedwait, &mask, info, &now, sizeof(mask)) ==
         SIGTRAP;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_KERNEL_SIGNALS_H_
