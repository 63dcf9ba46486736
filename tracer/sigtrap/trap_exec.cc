#include "tracer/sigtrap/trap_exec.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "tracer/sigtrap/kernel_signals.h"
#include "tracer/sigtrap/trap_pending.h"
#include "tracer/sigtrap/trap_state.h"

namespace pymemrun {
namespace {

// Number of TrapForSpawn with SIG_IGN installed now; the last one restores the
// handler.
std::atomic<uint32_t> g_spawns_ignoring;

// Reads the text, so that its pages are resident and exec takes no page fault
// there.
void Touch(const char* text) {
  if (text == nullptr) return;
  for (const volatile char* at = text; *at != '\0';) ++at;
}

void TouchAll(char* const* texts) {
  if (texts == nullptr) return;
  for (; *texts != nullptr; ++texts) Touch(*texts);
}

// Whether the process has one thread: a task directory has the links ".", ".."
// and one per thread.
bool IsOnlyThread() {
  struct stat folder;
  return stat("/proc/self/task", &folder) == 0 && folder.st_nlink == 3;
}

// Really pending signals of the program: at most one for the thread and one for
// the process.
struct ProgramsTraps {
  siginfo_t info[2];
  int count = 0;
};

// Removes really pending signals; drops page signals. REQUIRES: SIGTRAP is
// really blocked.
void TakeRealTraps(ProgramsTraps* traps) {
  siginfo_t info;
  while (TakeRealTrap(&info)) {
    if (TrapState::DoRequest(info) || TrapSignal::IsPageSignal(&info) ||
        TrapMask::IsNudge(info) || traps->count == 2) {
      continue;
    }
    traps->info[traps->count++] = info;
  }
}

// Makes virtually pending signals really pending; they survive exec.
void MakePendingReal() {
  siginfo_t info;
  const bool only = IsOnlyThread();
  while (TrapMask::Take(&info)) {
    // With several threads the kernel could give a signal for the process to
    // another one, so it is sent to this thread.
    if (only && !IsForThread(info)) {
      syscall(SYS_rt_sigqueueinfo, getpid(), SIGTRAP, &info);
    } else {
      SendTrapToSelf(info);
    }
  }
}

}  // namespace

TrapForExec::TrapForExec(const char* path, char* const* argv,
                         char* const* envp) {
  if (!TrapSignal::owned()) return;  // errno may not be usable yet
  const int saved = errno;
  if (TrapState::IsVirtual()) {
    active_ = true;
    StopPageSignals(path, argv, envp);
  }
  errno = saved;
}

// A page signal that is pending, or caused by exec itself, would kill the new
// program. So the events are disabled first. If the main thread does not
// respond, everything that exec reads is touched, so that it causes no faults.
void TrapForExec::StopPageSignals(const char* path, char* const* argv,
                                  char* const* envp) {
  events_stopped_ = TrapState::events();
  if (events_stopped_ && !TrapSignal::DisableEvents()) {
    Touch(path);
    TouchAll(argv);
    TouchAll(envp);
  }
  was_blocked_ = (ChangeRealMask(SIG_BLOCK, kTrapBit) & kTrapBit) != 0;
  ProgramsTraps traps;
  TakeRealTraps(&traps);
  ignored_ = TrapState::Action().Is(SIG_IGN);
  if (ignored_) TrapState::InstallInstead(SIG_IGN);
  for (int i = 0; i < traps.count; ++i) SendTrapToSelf(traps.info[i]);
  if (TrapMask::blocked()) {
    MakePendingReal();
  } else if (!was_blocked_) {
    ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  }
}

TrapForExec::~TrapForExec() {
  if (!active_) return;
  const int saved = errno;
  TakeBack();
  if (events_stopped_) TrapSignal::EnableEvents();
  errno = saved;
}

// After a failed exec: what is really pending becomes virtually pending again,
// or is delivered.
void TrapForExec::TakeBack() {
  const TrapBlock block;
  if (ignored_) TrapState::InstallHandler();
  ProgramsTraps traps;
  TakeRealTraps(&traps);
  for (int i = 0; i < traps.count; ++i) {
    if (TrapMask::blocked()) {
      TrapMask::Keep(traps.info[i]);
    } else {
      SendTrapToSelf(traps.info[i]);
    }
  }
  if (!was_blocked_) ChangeRealMask(SIG_UNBLOCK, kTrapBit);
}

// The child inherits the real action and mask at a moment inside libc. So both
// are as the program sees them for the whole call.
TrapForSpawn::TrapForSpawn() {
  if (!TrapState::IsVirtual()) return;
  const int saved = errno;
  ignored_ = TrapState::Action().Is(SIG_IGN);
  if (ignored_) {
    g_spawns_ignoring.fetch_add(1);
    TrapState::InstallInstead(SIG_IGN);
  }
  blocked_ = TrapMask::blocked() && !TrapIsReallyBlocked();
  if (blocked_) ChangeRealMask(SIG_BLOCK, kTrapBit);
  errno = saved;
}

TrapForSpawn::~TrapForSpawn() {
  if (!ignored_ && !blocked_) return;  // errno may not be usable yet
  const int saved = errno;
  if (ignored_ && g_spawns_ignoring.fetch_sub(1) == 1) {
    TrapState::InstallHandler();
  }
  if (blocked_) ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  errno = saved;
}

}  // namespace pymemrun
