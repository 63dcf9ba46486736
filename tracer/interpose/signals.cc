// Calls that read or change what SIGTRAP does, block it or wait for it. While
// the tracer owns it (tracer/sigtrap/trap_signal.h), the program's view and the
// real state are separate. For other signals, and without page events, they
// only forward.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tracer/base/interposed_state.h"
#include "tracer/requests/request_signal.h"
#include "tracer/sigtrap/kernel_signals.h"
#include "tracer/sigtrap/trap_pending.h"
#include "tracer/sigtrap/trap_signal.h"
#include "tracer/sigtrap/trap_state.h"

namespace pymemrun {
namespace {

using Handler = void(int);
using MaskFunction = int(int, const sigset_t*, sigset_t*);

// Whether SIGTRAP is in the set, and virtual.
bool NamesVirtualTrap(const sigset_t* set) {
  return TrapSignal::owned() && set != nullptr &&
         (FirstWord(set) & kTrapBit) != 0 && TrapState::IsVirtual();
}

void AddTrap(sigset_t* set) { SetFirstWord(set, FirstWord(set) | kTrapBit); }

// What siginterrupt(SIGTRAP) has set, for later calls of signal().
std::atomic<bool> g_interrupts;

// Sets a handler as signal() does. Returns the previous one.
Handler* SetHandler(Handler* handler, int flags, bool masked) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (masked) sigaddset(&action.sa_mask, SIGTRAP);
  const TrapAction was = TrapState::SetAction(TrapActionOf(action));
  return reinterpret_cast<Handler*>(was.handler);
}

// The mask to really set. It has no SIGTRAP, so that page signals go on, except
// in a handler whose own action blocks SIGTRAP (`held`).
KernelMask RealMask(int how, KernelMask mask, bool held) {
  const bool blocks = how != SIG_UNBLOCK && !held;
  return blocks ? mask & ~kTrapBit : mask;
}

// Whether SIGTRAP is blocked after such a call, in the program's view.
bool BlockedAfter(int how, KernelMask mask, bool held, bool before) {
  const bool names = (mask & kTrapBit) != 0;
  if (how == SIG_UNBLOCK) return before && !names;
  if (held && names) return before;
  return how == SIG_BLOCK ? before || names : names;
}

// The real call sets all signals but SIGTRAP. Unblocking SIGTRAP virtually
// delivers what is pending.
int ChangeMask(MaskFunction* real, int how, const sigset_t* set,
               sigset_t* old) {
  if (!TrapState::IsVirtual()) return real(how, set, old);
  const int saved = errno;
  const bool before = TrapMask::blocked();
  KernelMask mask = 0;
  bool held = false;
  sigset_t passed = {};
  if (set != nullptr) {
    mask = FirstWord(set);
    held = (mask & kTrapBit) != 0 && TrapIsReallyBlocked();
    SetFirstWord(&passed, RealMask(how, mask, held));
  }
  const int result = real(how, set != nullptr ? &passed : nullptr, old);
  if (result != 0) return result;
  if (old != nullptr && before) AddTrap(old);
  if (set != nullptr) TrapMask::Set(BlockedAfter(how, mask, held, before));
  errno = saved;
  return 0;
}

// Drops page signals that are really pending, and keeps a signal of the
// program.
void DropPageSignals() {
  siginfo_t info;
  bool kept = false;
  siginfo_t keep;
  while (TakeRealTrap(&info)) {
    if (TrapState::DoRequest(info) || TrapSignal::IsPageSignal(&info)) continue;
    keep = info;
    kept = true;
  }
  if (kept) SendTrapToSelf(keep);
}

// The kernel keeps one pending SIGTRAP for a thread. A page signal there would
// displace one that the thread is about to send to itself.
void MakeRoomForTrap() {
  const int saved = errno;
  if (TrapState::IsVirtual() && TrapIsReallyBlocked()) DropPageSignals();
  errno = saved;
}

// libc shows a signal sent by pthread_kill as one sent by kill.
int Received(const siginfo_t& from, siginfo_t* info) {
  if (info != nullptr) {
    *info = from;
    if (info->si_code == SI_TKILL) info->si_code = SI_USER;
  }
  return SIGTRAP;
}

timespec Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now;
}

// The rest of `timeout` since `start`, never negative.
timespec Remaining(const timespec& timeout, const timespec& start) {
  constexpr int64_t kSecond = 1000000000;
  const timespec now = Now();
  timespec left = timeout;
  left.tv_sec -= now.tv_sec - start.tv_sec;
  left.tv_nsec -= now.tv_nsec - start.tv_nsec;
  while (left.tv_nsec < 0) {
    left.tv_nsec += kSecond;
    --left.tv_sec;
  }
  while (left.tv_nsec >= kSecond) {
    left.tv_nsec -= kSecond;
    ++left.tv_sec;
  }
  return left.tv_sec < 0 ? timespec{} : left;
}

// While it lives other threads know that this one waits for SIGTRAP.
class WaitingForTrap {
 public:
  WaitingForTrap() { TrapMask::SetWaiting(true); }
  ~WaitingForTrap() { TrapMask::SetWaiting(false); }
  WaitingForTrap(const WaitingForTrap&) = delete;
  WaitingForTrap& operator=(const WaitingForTrap&) = delete;
};

// sigtimedwait for a set with SIGTRAP. The signal is really blocked during the
// call, so none is lost between looking and waiting. Signals that are not for
// the program are skipped.
int WaitForTrap(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  const timespec start = Now();
  const TrapBlock block;
  const WaitingForTrap waiting;
  siginfo_t page_signal;
  bool any_page_signal = false;
  siginfo_t got;
  int result;
  timespec left = timeout != nullptr ? *timeout : timespec{};
  for (;; left = timeout != nullptr ? Remaining(*timeout, start) : left) {
    if (TrapMask::Take(&got)) {
      result = Received(got, info);
      break;
    }
    result = PYMEMRUN_NEXT(sigtimedwait)(set, &got,
                                         timeout != nullptr ? &left : nullptr);
    const bool asks = result == SIGTRAP && TrapState::DoRequest(got);
    if (result == SIGTRAP && TrapSignal::IsPageSignal(&got)) {
      page_signal = got;
      any_page_signal = true;
    } else if (result != SIGTRAP || !(TrapMask::IsNudge(got) || asks)) {
      if (result > 0 && info != nullptr) *info = got;
      break;
    }
  }
  const int saved = errno;
  if (any_page_signal) SendTrapToSelf(page_signal);
  errno = saved;
  return result;
}

// sigsuspend while SIGTRAP is virtual. The kernel changes the mask and waits in
// one step. Here SIGTRAP is really blocked around both, so signals in between
// are delivered during the wait.
int Suspend(const sigset_t* set) {
  const bool before = TrapMask::blocked();
  int result;
  {
    const TrapBlock block;
    DropPageSignals();
    TrapMask::Set((FirstWord(set) & kTrapBit) != 0);
    result = PYMEMRUN_NEXT(sigsuspend)(set);
    const int saved = errno;
    TrapMask::Set(before);
    errno = saved;
  }
  return result;
}

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE int sigaction(int number, const struct sigaction* action,
                                 struct sigaction* old) noexcept {
  if (RequestSignal::Sets(number, action)) {
    // CPython gives up if the old handler, as stored here, is SIG_ERR by
    // chance.
    if (old != nullptr) *old = {};
    return 0;
  }
  if (number != SIGTRAP || !TrapState::IsVirtual()) {
    return RealSigaction(number, action, old);
  }
  const TrapAction was = action != nullptr
                             ? TrapState::SetAction(TrapActionOf(*action))
                             : TrapState::Action();
  if (old != nullptr) TrapState::Describe(was, old);
  return 0;
}

PYMEMRUN_INTERPOSE Handler* signal(int number, Handler* handler) noexcept {
  if (number != SIGTRAP || handler == SIG_ERR || !TrapState::IsVirtual()) {
    return PYMEMRUN_NEXT(signal)(number, handler);
  }
  return SetHandler(handler, g_interrupts.load() ? 0 : SA_RESTART, true);
}

PYMEMRUN_INTERPOSE Handler* bsd_signal(int number, Handler* handler) noexcept {
  return signal(number, handler);
}

PYMEMRUN_INTERPOSE Handler* ssignal(int number, Handler* handler) noexcept {
  return signal(number, handler);
}

PYMEMRUN_INTERPOSE Handler* sysv_signal(int number, Handler* handler) noexcept {
  if (number != SIGTRAP || handler == SIG_ERR || !TrapState::IsVirtual()) {
    return PYMEMRUN_NEXT(sysv_signal)(number, handler);
  }
  return SetHandler(handler, SA_RESETHAND | SA_NODEFER, false);
}

PYMEMRUN_INTERPOSE Handler* __sysv_signal(int number,
                                          Handler* handler) noexcept {
  return sysv_signal(number, handler);
}

// libc deprecates the name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
PYMEMRUN_INTERPOSE int siginterrupt(int number, int interrupt) noexcept {
  if (number != SIGTRAP || !TrapState::IsVirtual()) {
    return PYMEMRUN_NEXT(siginterrupt)(number, interrupt);
  }
  TrapAction action = TrapState::Action();
  action.flags =
      interrupt != 0 ? action.flags & ~SA_RESTART : action.flags | SA_RESTART;
  g_interrupts.store(interrupt != 0);
  TrapState::SetAction(action);
  return 0;
}
#pragma GCC diagnostic pop

PYMEMRUN_INTERPOSE int sigprocmask(int how, const sigset_t* set,
                                   sigset_t* old) noexcept {
  return ChangeMask(PYMEMRUN_NEXT(sigprocmask), how, set, old);
}

PYMEMRUN_INTERPOSE int pthread_sigmask(int how, const sigset_t* set,
                                       sigset_t* old) noexcept {
  return ChangeMask(PYMEMRUN_NEXT(pthread_sigmask), how, set, old);
}

PYMEMRUN_INTERPOSE int sigpending(sigset_t* set) noexcept {
  const auto real = PYMEMRUN_NEXT(sigpending);
  int result = real(set);
  if (result != 0 || !TrapState::IsVirtual()) return result;
  const int saved = errno;
  if ((FirstWord(set) & kTrapBit) != 0) {
    const TrapBlock block;
    DropPageSignals();
    result = real(set);
  }
  if (TrapMask::blocked() && TrapMask::pending()) AddTrap(set);
  errno = saved;
  return result;
}

PYMEMRUN_INTERPOSE int sigsuspend(const sigset_t* set) {
  if (!TrapState::IsVirtual()) return PYMEMRUN_NEXT(sigsuspend)(set);
  return Suspend(set);
}

PYMEMRUN_INTERPOSE int raise(int number) noexcept {
  if (number == SIGTRAP) MakeRoomForTrap();
  return PYMEMRUN_NEXT(raise)(number);
}

PYMEMRUN_INTERPOSE int pthread_kill(pthread_t thread, int number) noexcept {
  if (number == SIGTRAP && thread == pthread_self()) MakeRoomForTrap();
  return PYMEMRUN_NEXT(pthread_kill)(thread, number);
}

PYMEMRUN_INTERPOSE int sigwait(const sigset_t* set, int* number) {
  if (!NamesVirtualTrap(set)) return PYMEMRUN_NEXT(sigwait)(set, number);
  const int saved = errno;
  int result;
  do {
    result = WaitForTrap(set, nullptr, nullptr);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return errno;
  *number = result;
  errno = saved;
  return 0;
}

PYMEMRUN_INTERPOSE int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  if (!NamesVirtualTrap(set)) {
    return PYMEMRUN_NEXT(sigwaitinfo)(set, info);
  }
  return WaitForTrap(set, info, nullptr);
}

PYMEMRUN_INTERPOSE int sigtimedwait(const sigset_t* set, siginfo_t* info,
                                    const timespec* timeout) {
  if (!NamesVirtualTrap(set)) {
    return PYMEMRUN_NEXT(sigtimedwait)(set, info, timeout);
  }
  return WaitForTrap(set, info, timeout);
}
