#include "tracer/sigtrap/trap_signal.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/base/interposed_state.h"
#include "tracer/base/own_page.h"
#include "tracer/sigtrap/trap_pending.h"
#include "tracer/sigtrap/trap_state.h"

namespace pymemrun {
namespace {

// Stored actions. A handler reads the current action and may not take a lock,
// which its own thread may hold. So actions are immutable entries of a ring:
// Store() writes the next entry, then g_current is set to its number. An entry
// is reused only kActions changes later. Current() reads an entry and then
// checks that it was not reused in that time, as a seqlock does.
constexpr uint32_t kActions = 64;
struct StoredAction {
  std::atomic<void*> handler;
  std::atomic<int> flags;
  std::atomic<KernelMask> mask;
};
StoredAction g_actions[kActions];
std::atomic<uint32_t> g_next;     // number of the last action stored
std::atomic<uint32_t> g_current;  // number of the current action

// Called for page signals. Set before the handler is installed.
TrapSignal::FaultFunction* g_on_fault;
void (*g_restorer)();  // sa_restorer as sigaction() of libc returns it
bool g_heeds_forks;

// On a separate page that a forked child finds zeroed. So pid tells the owner,
// a vfork child and a forked child apart.
struct alignas(kOwnPage) Owner {
  pid_t pid;
};
Owner g_owner;

// A flag that libc sets in every action on x86.
#ifdef __x86_64__
constexpr int kLibcFlags = 0x04000000;  // SA_RESTORER
#else
constexpr int kLibcFlags = 0;
#endif

// Flags that the kernel keeps; it ignores others.
constexpr int kKnownFlags = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO |
                            SA_ONSTACK | SA_RESTART | SA_NODEFER |
                            SA_RESETHAND | 0x800 /* SA_EXPOSE_TAGBITS */;

// Request of another thread to the main thread, which owns the perf events: an
// option of prctl, or 0 when it was done. Its address in si_value marks the
// signal that announces it.
std::atomic<uint32_t> g_request;

bool SetEvents(int option) { return prctl(option, 0, 0, 0, 0) == 0; }

// Asks the main thread and waits up to one second. The exchange at the end
// takes the request back if the main thread did not see it.
bool AskMainThread(int option) {
  siginfo_t info = {};
  info.si_signo = SIGTRAP;
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = &g_request;
  const uint32_t request = static_cast<uint32_t>(option);
  g_request.store(request);
  const timespec patience = {1, 0};
  if (SendTrapTo(getpid(), info)) {
    syscall(SYS_futex, &g_request, FUTEX_WAIT_PRIVATE, request, &patience,
            nullptr, 0);
  }
  return g_request.exchange(0) == 0;
}

bool SetEventsFromHere(int option) {
  return ThreadNumber() == getpid() ? SetEvents(option) : AskMainThread(option);
}

uint32_t Store(const TrapAction& action) {
  const uint32_t number = g_next.fetch_add(1) + 1;
  StoredAction& place = g_actions[number % kActions];
  // Release: a reader that sees one of these values also sees g_next. Pairs
  // with the fence in Current().
  place.handler.store(action.handler, std::memory_order_release);
  place.flags.store(action.flags, std::memory_order_release);
  place.mask.store(action.mask, std::memory_order_release);
  return number;
}

TrapAction Stored(uint32_t number) {
  const StoredAction& place = g_actions[number % kActions];
  return {place.handler.load(std::memory_order_relaxed),
          place.flags.load(std::memory_order_relaxed),
          place.mask.load(std::memory_order_relaxed)};
}

// Returns the current action and its number. Tries again if kActions newer
// actions were stored while it read.
TrapAction Current(uint32_t* number) {
  for (;;) {
    *number = g_current.load(std::memory_order_acquire);
    const TrapAction action = Stored(*number);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (g_next.load(std::memory_order_relaxed) - *number < kActions) {
      return action;
    }
  }
}

// Calls the handler of the program as the kernel would, with the mask of its
// action. Changes of the real mask end with this signal, when the kernel
// restores the mask of the interrupted code.
void Call(const TrapAction& action, siginfo_t* info, void* context) {
  KernelMask mask = action.mask;
  if ((action.flags & SA_NODEFER) != 0 && (mask & kTrapBit) == 0) {
    ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  }
  if (mask != 0) ChangeRealMask(SIG_BLOCK, mask);
  using Handler = void(int, siginfo_t*, void*);
  reinterpret_cast<Handler*>(action.handler)(SIGTRAP, info, context);
  // The handler may have blocked SIGTRAP in uc_sigmask, which takes effect when
  // it returns. That becomes a virtual mask, too.
  sigset_t* after = &static_cast<ucontext_t*>(context)->uc_sigmask;
  const bool blocked = (FirstWord(after) & kTrapBit) != 0;
  if (!blocked) return TrapMask::SetOnly(false);
  SetFirstWord(after, FirstWord(after) & ~kTrapBit);
  TrapMask::SetOnly(true);
}

}  // namespace

bool TrapState::DoRequest(const siginfo_t& info) {
  const bool asks =
      info.si_code == SI_QUEUE && info.si_value.sival_ptr == &g_request;
  const uint32_t option = g_request.load();
  if (option != 0 && ThreadNumber() == getpid()) {
    SetEvents(static_cast<int>(option));
    g_request.store(0);
    syscall(SYS_futex, &g_request, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  return asks;
}

std::atomic<bool> TrapSignal::owned_ = false;
std::atomic<bool> TrapState::events_ = false;

int RealSigaction(int number, const struct sigaction* action,
                  struct sigaction* old) {
  return PYMEMRUN_NEXT(sigaction)(number, action, old);
}

TrapAction TrapActionOf(const struct sigaction& action) {
  TrapAction result;
  // sa_handler and sa_sigaction are a union.
  memcpy(&result.handler, &action.sa_handler, sizeof(result.handler));
  result.flags = (action.sa_flags & kKnownFlags) | kLibcFlags;
  // SIGKILL and SIGSTOP cannot be blocked.
  constexpr KernelMask kNever =
      KernelMask{1} << (SIGKILL - 1) | KernelMask{1} << (SIGSTOP - 1);
  result.mask = FirstWord(&action.sa_mask) & ~kNever;
  return result;
}

void TrapState::Describe(const TrapAction& action, struct sigaction* result) {
  memcpy(&result->sa_handler, &action.handler, sizeof(action.handler));
  result->sa_flags = action.flags;
  SetFirstWord(&result->sa_mask, action.mask);
  result->sa_restorer = (action.flags & kLibcFlags) != 0 ? g_restorer : nullptr;
}

TrapAction TrapState::Action() {
  uint32_t number;
  return Current(&number);
}

TrapAction TrapState::SetAction(const TrapAction& action) {
  const TrapAction was = Stored(g_current.exchange(Store(action)));
  if (action.Is(SIG_IGN)) TrapMask::DropPending();
  InstallHandler();
  return was;
}

// The compare-and-swap fails if the action was changed in between, also to an
// equal one.
bool TrapState::ResetAction(const TrapAction& from) {
  uint32_t number;
  const TrapAction now = Current(&number);
  if (now.handler != from.handler) return false;
  TrapAction reset = from;
  reset.handler = reinterpret_cast<void*>(SIG_DFL);
  return g_current.compare_exchange_strong(number, Store(reset));
}

// SA_RESTART as the program has it, because the kernel decides by the real
// action whether a call is restarted. Without a handler of the program nothing
// is interrupted.
bool TrapState::InstallHandler() {
  const TrapAction action = Action();
  struct sigaction real = {};
  real.sa_sigaction = OnTrap;
  real.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (!action.IsFunction() || (action.flags & SA_RESTART) != 0) {
    real.sa_flags |= SA_RESTART;
  }
  return RealSigaction(SIGTRAP, &real, nullptr) == 0;
}

void TrapState::InstallInstead(void (*special)(int)) {
  struct sigaction real = {};
  real.sa_handler = special;
  RealSigaction(SIGTRAP, &real, nullptr);
}

bool TrapState::IsVirtualSlow() {
  if (g_owner.pid == getpid()) return true;
  MakeRealInChild();
  return false;
}

// Makes the virtual state real in a child, if that was not done yet: the real
// handler is still OnTrap then. A vfork child shares the memory of its parent,
// so nothing in memory may change; only the state in the kernel may.
void TrapState::MakeRealInChild() {
  struct sigaction real;
  const int saved = errno;
  RealSigaction(SIGTRAP, nullptr, &real);
  if (real.sa_sigaction == OnTrap) {
    struct sigaction wanted;
    sigemptyset(&wanted.sa_mask);
    Describe(Action(), &wanted);
    RealSigaction(SIGTRAP, &wanted, nullptr);
    if (TrapMask::blocked()) ChangeRealMask(SIG_BLOCK, kTrapBit);
  }
  if (g_owner.pid == 0) Forget();  // a forked child, with its own memory
  errno = saved;
}

void TrapState::Forget() {
  TrapSignal::owned_.store(false, std::memory_order_relaxed);
  events_.store(false, std::memory_order_relaxed);
  TrapMask::Forget();
}

void TrapState::AfterFork() {
  if (TrapSignal::owned()) MakeRealInChild();
}

// Lets the process die by SIGTRAP. Returns if a debugger discards the signal.
void TrapState::Die(const siginfo_t& info) {
  InstallInstead(SIG_DFL);
  SendTrapToSelf(info);
  ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  ChangeRealMask(SIG_BLOCK, kTrapBit);
  InstallHandler();
}

// The real handler of SIGTRAP.
void TrapState::OnTrap(int, siginfo_t* info, void* context) {
  const int saved = errno;
  if (TrapSignal::IsPageSignal(info)) {
    g_on_fault(info, context);
    DoRequest(*info);
    // Page signals and nudges share the one place that the kernel has for a
    // pending SIGTRAP. So this page signal may have replaced a nudge: looks for
    // the signal that the nudge announced.
    siginfo_t taken;
    if (!TrapMask::blocked() && TrapMask::TakeOfProcess(&taken)) {
      OnProgramsTrap(&taken, context);
    }
  } else {
    OnProgramsTrap(info, context);
  }
  errno = saved;
}

// Handles a SIGTRAP that is not a page signal, as the kernel would without the
// tracer: requests and nudges first, then keep it (blocked), die (SIG_DFL),
// ignore it, or call the handler.
void TrapState::OnProgramsTrap(siginfo_t* info, void* context) {
  if (DoRequest(*info)) return;
  const bool blocked = TrapMask::blocked();
  siginfo_t taken;
  if (!blocked && TrapMask::IsNudge(*info)) {
    if (!TrapMask::TakeOfProcess(&taken)) return;
    info = &taken;
  }
  if (!IsVirtual()) {
    // A child made its state real in IsVirtual(). Sends the signal again, to
    // the real action, with the real mask from the return of this handler on.
    sigset_t* after = &static_cast<ucontext_t*>(context)->uc_sigmask;
    if (blocked) SetFirstWord(after, FirstWord(after) | kTrapBit);
    return SendTrapToSelf(*info);
  }
  TrapAction action = Action();
  // A trap of an instruction (int3, single step) can be neither blocked nor
  // ignored.
  const bool forced = info->si_code > 0 && info->si_code != kTrapPerf;
  if (blocked && !forced) return TrapMask::Keep(*info);
  if (action.Is(SIG_DFL) || (forced && (blocked || action.Is(SIG_IGN)))) {
    return Die(*info);
  }
  if (action.Is(SIG_IGN)) return;
  if ((action.flags & SA_RESETHAND) != 0) ResetAction(action);
  Call(action, info, context);
}

// The earlier action is stored with all its flags, as the program must get it
// back.
bool TrapSignal::Own(FaultFunction* on_fault) {
  struct sigaction before;
  if (madvise(&g_owner, sizeof(g_owner), MADV_WIPEONFORK) != 0 ||
      RealSigaction(SIGTRAP, nullptr, &before) != 0) {
    return false;
  }
  g_owner.pid = getpid();
  g_on_fault = on_fault;
  TrapAction action = TrapActionOf(before);
  action.flags = before.sa_flags;
  g_current.store(Store(action));
  if (!TrapState::InstallHandler()) return false;
  struct sigaction ours;
  RealSigaction(SIGTRAP, nullptr, &ours);
  g_restorer = ours.sa_restorer;
  TrapMask::SetOnly(TrapIsReallyBlocked());
  owned_.store(true);
  if (!g_heeds_forks) {
    pthread_atfork(nullptr, nullptr, TrapState::AfterFork);
    g_heeds_forks = true;
  }
  // If one was really pending, it arrives now, and is kept as pending.
  ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  return true;
}

// Makes the state real as in a child: g_owner.pid is 0 then.
void TrapSignal::Release() {
  if (!TrapState::IsVirtual()) return;
  if (TrapState::events()) DisableEvents();
  g_owner.pid = 0;
  siginfo_t info;
  const bool pending = TrapMask::Take(&info);
  TrapState::MakeRealInChild();
  if (pending) SendTrapToSelf(info);
}

bool TrapSignal::EnableEvents() {
  const bool done = SetEventsFromHere(PR_TASK_PERF_EVENTS_ENABLE);
  if (done) TrapState::events_.store(true, std::memory_order_relaxed);
  return done;
}

bool TrapSignal::DisableEvents() {
  TrapState::events_.store(false, std::memory_order_relaxed);
  return SetEventsFromHere(PR_TASK_PERF_EVENTS_DISABLE);
}

}  // namespace pymemrun
