// SIGTRAP while it is ours: a program's actions, masks and waiting.
#include "tracer/trap_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracer/trap_test_support.h"

extern "C" void (*bsd_signal(int, void (*)(int)) noexcept)(int);

namespace pymemrun {
namespace {

sigset_t TrapSet(int also = 0) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  if (also != 0) sigaddset(&set, also);
  return set;
}

TEST(TrapActionTest, DefaultDiesBySigtrap) {
  ExpectTheSame([] { raise(SIGTRAP); });
  ExpectTheSame([] { kill(getpid(), SIGTRAP); });
  ExpectTheSame([] {
    pthread_t thread;
    auto run = [](void*) -> void* {
      pthread_kill(pthread_self(), SIGTRAP);
      return nullptr;
    };
    pthread_create(&thread, nullptr, run, nullptr);
    pthread_join(thread, nullptr);
  });
}

TEST(TrapActionTest, IgnoredIsIgnored) {
  ExpectTheSame([] {
    SayState();
    Say("was %d\n", signal(SIGTRAP, SIG_IGN) == SIG_DFL);
    raise(SIGTRAP);
    kill(getpid(), SIGTRAP);
    SayState();
    Say("was %d\n", signal(SIGTRAP, SIG_DFL) == SIG_IGN);
    raise(SIGTRAP);
  });
}

TEST(TrapActionTest, HandlerIsCalledWithItsMask) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled, 0, SIGUSR1);
    SayState();
    raise(SIGTRAP);
    kill(getpid(), SIGTRAP);
    sigqueue(getpid(), SIGTRAP, {});
    Touch();
    SayState();
  });
}

TEST(TrapActionTest, HandlerOfOneCall) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled, SA_RESETHAND);
    raise(SIGTRAP);
    SayState();
    raise(SIGTRAP);
  });
}

TEST(TrapActionTest, HandlerThatIsNotDeferred) {
  static int depth;
  auto nested = [](int number, siginfo_t* info, void* context) {
    SayHandled(number, info, context);
    if (++depth < 3) raise(SIGTRAP);
    Say("out %d\n", depth);
  };
  static auto* const handler = +nested;
  ExpectTheSame([] {
    Handle(SIGTRAP, handler, SA_NODEFER);
    raise(SIGTRAP);
  });
  ExpectTheSame([] {
    Handle(SIGTRAP, handler);
    raise(SIGTRAP);
  });
  ExpectTheSame([] {
    Handle(SIGTRAP, handler, SA_NODEFER, SIGTRAP);
    raise(SIGTRAP);
  });
}

void Plain(int number) { Say("plain %d\n", number); }

TEST(TrapActionTest, OtherWaysToSetHandlers) {
  ExpectTheSame([] {
    signal(SIGTRAP, Plain);
    SayState();
    raise(SIGTRAP);
    Say("was %d\n", sysv_signal(SIGTRAP, Plain) == Plain);
    SayState();
    raise(SIGTRAP);
    Say("was %d\n", ssignal(SIGTRAP, Plain) == SIG_DFL);
    Say("was %d\n", bsd_signal(SIGTRAP, Plain) == Plain);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    Say("siginterrupt %d\n", siginterrupt(SIGTRAP, 1));
#pragma GCC diagnostic pop
    SayState();
    errno = 0;
    Say("wrong %d", signal(SIGTRAP, SIG_ERR) == SIG_ERR);
    Say(" errno %d\n", errno);
  });
}

TEST(TrapActionTest, LeavingAHandlerByLongjmp) {
  static sigjmp_buf here;
  auto leave = [](int, siginfo_t*, void*) { siglongjmp(here, 1); };
  static auto* const handler = +leave;
  ExpectTheSame([] {
    Handle(SIGTRAP, handler);
    for (int save = 0; save < 2; ++save) {
      Mask(SIG_UNBLOCK);
      if (sigsetjmp(here, save) == 0) raise(SIGTRAP);
      SayState();
    }
  });
}

TEST(TrapActionTest, BreakpointsCannotBeBlockedOrIgnored) {
#ifdef __x86_64__
  auto trap = [] { asm volatile("int3"); };
  static auto* const breakpoint = +trap;
  ExpectTheSame(breakpoint);
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    breakpoint();
  });
  ExpectTheSame([] {
    signal(SIGTRAP, SIG_IGN);
    breakpoint();
  });
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Mask(SIG_BLOCK);
    breakpoint();
  });
#endif
}

// Another thread sends the signal to the one that reads.
void ReadWhileSignalled(int flags) {
  static pthread_t reader;
  static int ends[2];
  reader = pthread_self();
  Say("pipe %d\n", pipe(ends));
  Handle(
      SIGTRAP, [](int, siginfo_t*, void*) { Say("handler\n"); }, flags);
  auto run = [](void*) -> void* {
    const timespec nap = {0, 200'000'000};
    nanosleep(&nap, nullptr);
    pthread_kill(reader, SIGTRAP);
    nanosleep(&nap, nullptr);
    return reinterpret_cast<void*>(write(ends[1], "x", 1));
  };
  pthread_t sender;
  pthread_create(&sender, nullptr, run, nullptr);
  char byte;
  const ssize_t got = read(ends[0], &byte, 1);
  Say("read %d errno %d\n", static_cast<int>(got), got < 0 ? errno : 0);
  pthread_join(sender, nullptr);
}

TEST(TrapActionTest, InterruptedCallsRestartAsTheHandlerSays) {
  ExpectTheSame([] { ReadWhileSignalled(0); });
  ExpectTheSame([] { ReadWhileSignalled(SA_RESTART); });
}

TEST(TrapMaskTest, BlockedStaysPending) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    raise(SIGTRAP);
    kill(getpid(), SIGTRAP);
    SayState();
    Mask(SIG_BLOCK, true);
    ExpectPageSignals();
    Mask(SIG_UNBLOCK);
    SayState();
    Mask(SIG_SETMASK, true);
    raise(SIGTRAP);
    SayState();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    SayState();
    errno = 0;
    Say("wrong %d errno %d\n", sigprocmask(17, &none, nullptr), errno);
  });
}

TEST(TrapMaskTest, PendingDiesWhenUnblocked) {
  ExpectTheSame([] {
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    Say("here\n");
    Mask(SIG_UNBLOCK);
    Say("not here\n");
  });
}

TEST(TrapMaskTest, PendingIsDroppedWhenIgnored) {
  ExpectTheSame([] {
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    kill(getpid(), SIGTRAP);
    signal(SIGTRAP, SIG_IGN);
    SayState();
    raise(SIGTRAP);  // a blocked one is kept all the same
    SayState();
    signal(SIGTRAP, SIG_DFL);
    SayState();
  });
}

TEST(TrapMaskTest, HandlersOfOtherSignalsMayBlockIt) {
  static auto* const handler = +[](int, siginfo_t*, void*) {
    SayState();
    raise(SIGTRAP);
    SayState();
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    SayState();
    sigprocmask(SIG_SETMASK, &old, nullptr);
    SayState();
  };
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Handle(SIGUSR1, handler, 0, SIGTRAP);
    raise(SIGUSR1);
    SayState();
  });
}

TEST(TrapMaskTest, SuspendDeliversWhatItOpens) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    sigset_t none;
    sigemptyset(&none);
    const int result = sigsuspend(&none);
    Say("suspend %d errno %d\n", result, errno);
    SayState();
  });
}

TEST(TrapWaitTest, WaitingTakesWhatIsPending) {
  ExpectTheSame([] {
    Mask(SIG_BLOCK);
    const sigset_t set = TrapSet();
    int number = 0;
    raise(SIGTRAP);
    Say("wait %d", sigwait(&set, &number));
    Say(" %d\n", number);
    kill(getpid(), SIGTRAP);
    siginfo_t info;
    Say("info %d", sigwaitinfo(&set, &info));
    Say(" code %d own %d\n", info.si_code, info.si_pid == getpid());
    raise(SIGTRAP);
    Say("info %d", sigwaitinfo(&set, &info));
    Say(" code %d\n", info.si_code);
    SayState();
  });
}

TEST(TrapWaitTest, WaitingEnds) {
  ExpectTheSame([] {
    Mask(SIG_BLOCK, true);
    const sigset_t set = TrapSet(SIGUSR1);
    const timespec soon = {0, 50'000'000}, never = {-1, 0};
    siginfo_t info;
    Touch();
    Say("none %d", sigtimedwait(&set, &info, &soon));
    Say(" errno %d\n", errno);
    Say("wrong %d", sigtimedwait(&set, &info, &never));
    Say(" errno %d\n", errno);
    raise(SIGUSR1);
    Say("other %d", sigtimedwait(&set, &info, &soon));
    Say(" %d\n", info.si_signo);
  });
}

// A thread that waits, one that has it blocked: the signal is for the process.
TEST(TrapWaitTest, SignalsForTheProcessGoToAThreadThatWaits) {
  ExpectTheSame([] {
    Mask(SIG_BLOCK, true);
    auto run = [](void*) -> void* {
      const sigset_t set = TrapSet();
      int number = 0;
      ExpectPageSignals();
      const int result = sigwait(&set, &number);
      Say("waiter: %d %d\n", result, number);
      ExpectPageSignals();
      return nullptr;
    };
    pthread_t waiter;
    pthread_create(&waiter, nullptr, run, nullptr);
    const timespec nap = {0, 200'000'000};
    nanosleep(&nap, nullptr);
    kill(getpid(), SIGTRAP);
    pthread_join(waiter, nullptr);
    SayState();
  });
}

TEST(TrapWaitTest, SignalsForTheProcessGoToAThreadThatHasItOpen) {
  static int ends[2];
  static pthread_t open_thread;
  ExpectTheSame([] {
    Say("pipe %d\n", pipe(ends));
    Handle(SIGTRAP, [](int, siginfo_t* info, void*) {
      Say("open thread %d code %d\n", pthread_self() == open_thread,
          info->si_code);
    });
    auto run = [](void*) -> void* {
      char byte;
      ssize_t got;
      while ((got = read(ends[0], &byte, 1)) < 0 && errno == EINTR) {
      }
      return reinterpret_cast<void*>(got);
    };
    pthread_create(&open_thread, nullptr, run, nullptr);
    Mask(SIG_BLOCK);
    kill(getpid(), SIGTRAP);
    const timespec nap = {0, 200'000'000};
    nanosleep(&nap, nullptr);
    SayState();
    Say("write %d\n", static_cast<int>(write(ends[1], "x", 1)));
    pthread_join(open_thread, nullptr);
  });
}

TEST(TrapWaitTest, OneOpensItLater) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Mask(SIG_BLOCK);
    kill(getpid(), SIGTRAP);
    auto run = [](void*) -> void* {
      SayState();
      Mask(SIG_UNBLOCK);
      SayState();
      return nullptr;
    };
    pthread_t thread;
    pthread_create(&thread, nullptr, run, nullptr);
    pthread_join(thread, nullptr);
    SayState();
  });
}

TEST(TrapWaitTest, PageSignalsWithinOurHandler) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    TouchInHandler();
    raise(SIGTRAP);
    ExpectPageSignals();
  });
}

TEST(TrapWaitTest, PageSignalsOnAFreshAlternateStack) {
  ExpectTheSame([] {
    constexpr size_t kSize = 256 * 1024;
    void* fresh = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = {fresh, 0, kSize};
    Say("sigaltstack %d\n", sigaltstack(&stack, nullptr));
    Handle(SIGTRAP, SayHandled, SA_ONSTACK);
    ExpectPageSignals();
    raise(SIGTRAP);
    munmap(fresh, kSize);
    const stack_t none = {nullptr, SS_DISABLE, 0};
    Say("sigaltstack %d\n", sigaltstack(&none, nullptr));
  });
}

}  // namespace
}  // namespace pymemrun
