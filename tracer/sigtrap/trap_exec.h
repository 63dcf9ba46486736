// SIGTRAP at an exec: the new program finds it ignored or blocked if this
// program sees it so, and no page signal is pending, which would kill the new
// program. See trap_signal.h.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_EXEC_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_EXEC_H_

#include <signal.h>

namespace pymemrun {

// Encloses an exec of this process. While it exists, virtual state is real on
// this thread, and only the call itself may run. If exec fails and returns, the
// destructor restores everything. Does nothing if the tracer does not own
// SIGTRAP; in a child only what TrapState::IsVirtual() does. Does not allocate.
class TrapForExec {
 public:
  // The strings that exec will read; each may be null.
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

// Encloses a libc function that makes a child which execs (posix_spawn). The
// child gets SIGTRAP as the program sees it. During the call page signals are
// late if it is blocked, and lost if it is ignored.
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
