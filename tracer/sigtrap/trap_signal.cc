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

// Actions, each in a place that is used again only kActions changes later: so
// they are read without a lock, which a handler could not take.
constexpr uint32_t kActions = 64;
struct StoredAction {
  std::atomic<void*> handler;
  std::atomic<int> flags;
  std::atomic<KernelMask> mask;
};
StoredAction g_actions[kActions];
std::atomic<uint32_t> g_next;     // number of the action stored next
std::atomic<uint32_t> g_current;  // of the one that holds

// Where to go on a page signal. Filled before our handler is installed.
TrapSignal::FaultFunction* g_on_fault;
void (*g_restorer)();  // as libc's sigaction shows it
bool g_heeds_forks;

// On a page of its own, which a forked child finds zeroed.
struct alignas(kOwnPage) Owner {
  pid_t pid;
};
Owner g_owner;

// The kernel's own flag, which every action has that libc sets on x86.
#ifdef __x86_64__
constexpr int kLibcFlags = 0x04000000;  // SA_RESTORER
#else
constexpr int kLibcFlags = 0;
#endif

// The kernel forgets all others.
constexpr int kKnownFlags = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO |
                            SA_ONSTACK | SA_RESTART | SA_NODEFER |
                            SA_RESETHAND | 0x800 /* SA_EXPOSE_TAGBITS */;

// What another thread asks of the main thread, to whom the events belong: an
// option of prctl, 0 when it has been done. Its address marks the signal by
// which it is told.
std::atomic<uint32_t> g_request;

bool SetEvents(int option) { return prctl(option, 0, 0, 0, 0) == 0; }

// Has the main thread do it, if that can be heard within a second.
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
  // Release: who reads one of these sees g_next, too. Pairs with the fence in
  // Current().
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

// Calls the program's handler as the kernel would; what it does to masks ends
// with it, when the kernel restores the interrupted one.
void Call(const TrapAction& action, siginfo_t* info, void* context) {
  KernelMask mask = action.mask;
  if ((action.flags & SA_NODEFER) != 0 && (mask & kTrapBit) == 0) {
    ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  }
  if (mask != 0) ChangeRealMask(SIG_BLOCK, mask);
  using Handler = void(int, siginfo_t*, void*);
  reinterpret_cast<Handler*>(action.handler)(SIGTRAP, info, context);
  // SIGTRAP may be blocked from now on, in the handler's own way.
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
  // sa_handler and sa_sigaction lie in one place.
  memcpy(&result.handler, &action.sa_handler, sizeof(result.handler));
  result.flags = (action.sa_flags & kKnownFlags) | kLibcFlags;
  // The kernel lets nobody block these.
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

bool TrapState::ResetAction(const TrapAction& from) {
  uint32_t number;
  const TrapAction now = Current(&number);
  if (now.handler != from.handler) return false;
  TrapAction reset = from;
  reset.handler = reinterpret_cast<void*>(SIG_DFL);
  return g_current.compare_exchange_strong(number, Store(reset));
}

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

// A vfork child shares our memory, but not what the kernel knows of signals: so
// only that may change, and it says itself whether it has.
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
  if (g_owner.pid == 0) Forget();  // a forked child: all this is its own
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

// Really dies by SIGTRAP. Comes back where a debugger will have it so.
void TrapState::Die(const siginfo_t& info) {
  InstallInstead(SIG_DFL);
  SendTrapToSelf(info);
  ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  ChangeRealMask(SIG_BLOCK, kTrapBit);
  InstallHandler();
}

void TrapState::OnTrap(int, siginfo_t* info, void* context) {
  const int saved = errno;
  if (TrapSignal::IsPageSignal(info)) {
    g_on_fault(info, context);
    DoRequest(*info);
    // It takes the place of a nudge that came while it was pending.
    siginfo_t taken;
    if (!TrapMask::blocked() && TrapMask::TakeOfProcess(&taken)) {
      OnProgramsTrap(&taken, context);
    }
  } else {
    OnProgramsTrap(info, context);
  }
  errno = saved;
}

void TrapState::OnProgramsTrap(siginfo_t* info, void* context) {
  if (DoRequest(*info)) return;
  const bool blocked = TrapMask::blocked();
  siginfo_t taken;
  if (!blocked && TrapMask::IsNudge(*info)) {
    if (!TrapMask::TakeOfProcess(&taken)) return;
    info = &taken;
  }
  if (!IsVirtual()) {
    // As the kernel will have it when this handler returns.
    sigset_t* after = &static_cast<ucontext_t*>(context)->uc_sigmask;
    if (blocked) SetFirstWord(after, FirstWord(after) | kTrapBit);
    return SendTrapToSelf(*info);
  }
  TrapAction action = Action();
  // The trap of an instruction can be neither blocked nor ignored.
  const bool forced = info->si_code > 0 && info->si_code != kTrapPerf;
  if (blocked && !forced) return TrapMask::Keep(*info);
  if (action.Is(SIG_DFL) || (forced && (blocked || action.Is(SIG_IGN)))) {
    return Die(*info);
  }
  if (action.Is(SIG_IGN)) return;
  if ((action.flags & SA_RESETHAND) != 0) ResetAction(action);
  Call(action, info, context);
}

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
  // One that was pending is kept as such.
  ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  return true;
}

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
