// SIGTRAP as the kernel has it, beside what the program sees of it: the real
// mask, the real queue. Async-signal-safe; errno is the last call's.
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

// A signal mask as the kernel has it: sigset_t's first word.
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

// Changes the thread's real mask; returns what it was.
inline KernelMask ChangeRealMask(int how, KernelMask mask) {
  KernelMask was = 0;
  syscall(SYS_rt_sigprocmask, how, &mask, &was, sizeof(mask));
  return was;
}

inline bool TrapIsReallyBlocked() {
  return (ChangeRealMask(SIG_BLOCK, 0) & kTrapBit) != 0;
}

// Really blocks SIGTRAP on this thread while it lives. A page signal meanwhile
// comes late, at the end.
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

// Sends the thread a SIGTRAP with just that information. Returns whether there
// is such a thread in this process.
inline bool SendTrapTo(pid_t thread, const siginfo_t& info) {
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, SIGTRAP, &info) == 0;
}

inline void SendTrapToSelf(const siginfo_t& info) {
  SendTrapTo(ThreadNumber(), info);
}

// Takes a SIGTRAP that is really pending for this thread. REQUIRES: it is
// really blocked.
inline bool TakeRealTrap(siginfo_t* info) {
  const KernelMask mask = kTrapBit;
  const timespec now = {};
  return syscall(SYS_rt_sigtimedwait, &mask, info, &now, sizeof(mask)) ==
         SIGTRAP;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_KERNEL_SIGNALS_H_
