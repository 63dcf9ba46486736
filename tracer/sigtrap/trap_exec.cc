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

std::atomic<uint32_t> g_spawns_ignoring;

void Touch(const char* text) {
  if (text == nullptr) return;
  for (const volatile char* at = text; *at != '\0';) ++at;
}

void TouchAll(char* const* texts) {
  if (texts == nullptr) return;
  for (; *texts != nullptr; ++texts) Touch(*texts);
}

bool IsOnlyThread() {
  struct stat folder;
  return stat("/proc/self/task", &folder) == 0 && folder.st_nlink == 3;
}

// Of the program's signals that are really pending here, at most one is for the
// thread and one for the process.
struct ProgramsTraps {
  siginfo_t info[2];
  int count = 0;
};

// Takes what is really pending; page signals are dropped. REQUIRES: SIGTRAP is
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

// What is pending becomes so really, which lasts beyond exec.
void MakePendingReal() {
  siginfo_t info;
  const bool only = IsOnlyThread();
  while (TrapMask::Take(&info)) {
    // With other threads the kernel would give it to one of them.
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
  if (!TrapSignal::owned()) return;  // maybe too early to ask for errno
  const int saved = errno;
  if (TrapState::IsVirtual()) {
    active_ = true;
    StopPageSignals(path, argv, envp);
  }
  errno = saved;
}

// A page signal that is pending, or caused by the system call itself, would
// reach the new program: so there are no more. Should the main thread not hear,
// the call finds at least all that it reads in memory.
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
  if (!ignored_ && !blocked_) return;  // maybe too early to ask for errno
  const int saved = errno;
  if (ignored_ && g_spawns_ignoring.fetch_sub(1) == 1) {
    TrapState::InstallHandler();
  }
  if (blocked_) ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  errno = saved;
}

}  // namespace pymemrun
