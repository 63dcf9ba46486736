// The virtual state of SIGTRAP as the program sees it: its action, its pending
// signals, and whether the caller is in the process that owns this state. For
// the interposed functions and the handler; see trap_signal.h.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_STATE_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_STATE_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "tracer/sigtrap/kernel_signals.h"
#include "tracer/sigtrap/trap_signal.h"

namespace pymemrun {

// An action of the program for SIGTRAP.
struct TrapAction {
  void* handler;  // a function of either kind, SIG_DFL or SIG_IGN
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
  // Whether SIGTRAP is virtual here. False while the tracer does not own
  // SIGTRAP, and in child processes, where the first call makes all virtual
  // state real.
  static bool IsVirtual() {
    return __builtin_expect(TrapSignal::owned(), 0) && IsVirtualSlow();
  }

  // Returns the current action. Async-signal-safe, on any thread.
  static TrapAction Action();
  // Sets the action and returns the previous one. With SIG_IGN pending signals
  // are dropped, as the kernel does.
  static TrapAction SetAction(const TrapAction& action);
  // Resets the action to SIG_DFL, as the kernel does for SA_RESETHAND before it
  // calls the handler. Returns false if the action has changed since `from`.
  static bool ResetAction(const TrapAction& from);
  // Converts an action to what sigaction() of libc returns.
  static void Describe(const TrapAction& action, struct sigaction* result);

  // Changes the real action: to the handler of the tracer, which restarts
  // interrupted calls if the action of the program would; or to SIG_IGN or
  // SIG_DFL.
  static bool InstallHandler();
  static void InstallInstead(void (*special)(int));

  // Whether the signal is only a request to the main thread. Carries out a
  // waiting request at any other signal, too: a pending signal may have taken
  // the place of the request.
  static bool DoRequest(const siginfo_t& info);

  // Whether the perf events are enabled.
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

// sigaction() of libc.
int RealSigaction(int number, const struct sigaction* action,
                  struct sigaction* old);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_TRAP_STATE_H_
