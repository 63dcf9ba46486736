// SIGTRAP while it is ours: a program's actions and masks.
#include "tracer/sigtrap/trap_signal.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "tracer/sigtrap/trap_test_support.h"

extern "C" void (*bsd_signal(int, void (*)(int)) noexcept)(int);

namespace pymemrun {
namespace {

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

std::atomic<bool> g_handled;

// Another thread sends the signal to the one that reads.
void ReadWhileSignalled(int flags) {
  static pthread_t reader;
  static int ends[2];
  reader = pthread_self();
  Say("pipe %d\n", pipe(ends));
  auto handler = [](int, siginfo_t*, void*) { g_handled = true; };
  Handle(SIGTRAP, handler, flags);
  auto run = [](void*) -> void* {
    AwaitCall(getpid(), SYS_read);
    pthread_kill(reader, SIGTRAP);
    while (!g_handled) {
    }
    if (write(ends[1], "x", 1) != 1) _exit(1);
    return nullptr;
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

}  // namespace
}  // namespace pymemrun
