// The program's view of SIGTRAP while that is ours: its action, what is pending
// for the process, and whether the caller is in the process that this is about.
// For the interposed functions and the handler; see tracer/trap_signal.h.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_STATE_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_STATE_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "tracer/sigtrap/kernel_signals.h"
#include "tracer/sigtrap/trap_signal.h"

namespace pymemrun {

// The program's action for SIGTRAP.
struct TrapAction {
  void* handler;  // of either kind, SIG_DFL, SIG_IGN
  int flags;
  KernelMask mask;

  bool Is(void (*special)(int)) const {
    return handler == reinterpret_cast<void*>(special);
  }
  bool IsFunction() const { return !Is(SIG_DFL) && !Is(SIG_IGN); }
};

TrapAction TrapActionOf(const struct sigaction& action);

class TrapState {
 public:
  // Whether what is asked of SIGTRAP is virtual here. False where all is real:
  // while SIGTRAP is not ours, and in children, where this makes it so first.
  static bool IsVirtual() {
    return __builtin_expect(TrapSignal::owned(), 0) && IsVirtualSlow();
  }

  // The program's action now. Async-signal-safe, on any thread.
  static TrapAction Action();
  // Sets it, and what goes with it: what is pending is dropped if it is
  // SIG_IGN. Returns what it was.
  static TrapAction SetAction(const TrapAction& action);
  // As the kernel does before it calls a handler with SA_RESETHAND. Returns
  // false if another action has been set meanwhile.
  static bool ResetAction(const TrapAction& from);
  // Fills in an action as libc's sigaction would return it.
  static void Describe(const TrapAction& action, struct sigaction* result);

  // Really: our handler, to restart interrupted calls as the program's action
  // would; SIG_IGN or SIG_DFL in its place.
  static bool InstallHandler();
  static void InstallInstead(void (*special)(int));

  // Whether this only asks the main thread for something. What it is asked for
  // is then done, and also at any other signal: one that was pending when the
  // request came has taken its place.
  static bool DoRequest(const siginfo_t& info);

  // Whether our events are enabled.
  static bool events() { return events_.load(std::memory_order_relaxed); }

 private:
  friend class TrapSignal;
  static bool IsVirtualSlow();
  static void MakeRealInChild();
  static void Forget();
  static void AfterFork();
  static void OnTrap(int number, siginfo_t* info, void* context);
  static void OnProgramsTrap(siginfo_t* info, void* context);
  static void Die(const siginfo_t& info);
  static std::atomic<bool> events_;
};

// libc's sigaction.
int RealSigaction(int number, const struct sigaction* action,
                  struct sigaction* old);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_TRAP_STATE_H_
