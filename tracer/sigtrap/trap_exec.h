// SIGTRAP as a new program is to find it: ignored or blocked if this one has it
// so, and no page signal pending, which would kill it. See trap_signal.h.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_EXEC_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_EXEC_H_

#include <signal.h>

namespace pymemrun {

// Around an exec of this process: what is virtual is real while this lives, on
// this thread, so only the call itself may come meanwhile. When it comes back,
// having failed, all is as before. Does nothing where SIGTRAP is not ours, and
// only what TrapState::IsVirtual() does in a child. Does not allocate.
class TrapForExec {
 public:
  // The strings that exec is to read, each possibly null.
  TrapForExec(const char* path, char* const* argv, char* const* envp);
  ~TrapForExec();
  TrapForExec(const TrapForExec&) = delete;
  TrapForExec& operator=(const TrapForExec&) = delete;

 private:
  void StopPageSignals(const char* path, char* const* argv, char* const* envp);
  void TakeBack();

  bool active_ = false;
  bool events_stopped_ = false;
  bool ignored_ = false;
  bool was_blocked_ = false;
};

// Around a libc function that makes a child that execs: the child has SIGTRAP
// as the program sees it. Page signals come late meanwhile if it is blocked,
// and do not come at all if it is ignored.
class TrapForSpawn {
 public:
  TrapForSpawn();
  ~TrapForSpawn();
  TrapForSpawn(const TrapForSpawn&) = delete;
  TrapForSpawn& operator=(const TrapForSpawn&) = delete;

 private:
  bool ignored_ = false;
  bool blocked_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_TRAP_EXEC_H_
