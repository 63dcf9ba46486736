// SIGTRAP while it is ours: waiting for it, and which thread gets it; page
// signals in narrow places.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "tracer/sigtrap/trap_test_support.h"

namespace pymemrun {
namespace {

std::atomic<bool> g_handled;

sigset_t TrapSet(int also = 0) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  if (also != 0) sigaddset(&set, also);
  return set;
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
  static std::atomic<pid_t> waits;
  ExpectTheSame([] {
    Mask(SIG_BLOCK, true);
    auto run = [](void*) -> void* {
      const sigset_t set = TrapSet();
      int number = 0;
      waits = static_cast<pid_t>(syscall(SYS_gettid));
      ExpectPageSignals();
      const int result = sigwait(&set, &number);
      Say("waiter: %d %d\n", result, number);
      ExpectPageSignals();
      return nullptr;
    };
    pthread_t waiter;
    pthread_create(&waiter, nullptr, run, nullptr);
    while (waits == 0) {
    }
    AwaitCall(waits, SYS_rt_sigtimedwait);
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
      g_handled = true;
    });
    auto run = [](void*) -> void* {
      char byte;
      ssize_t got;
      while ((got = read(ends[0], &byte, 1)) < 0 && errno == EINTR) {
      }
      if (got != 1) _exit(1);
      return nullptr;
    };
    pthread_create(&open_thread, nullptr, run, nullptr);
    Mask(SIG_BLOCK);
    kill(getpid(), SIGTRAP);
    while (!g_handled) {
    }
    SayState();
    Say("write %d\n", static_cast<int>(write(ends[1], "x", 1)));
    pthread_join(open_thread, nullptr);
  });
}

// More threads than are remembered. All ended with the signal blocked.
TEST(TrapWaitTest, ManyThreadsThatHadItBlockedAreForgotten) {
  ExpectTheSame([] {
    Mask(SIG_BLOCK);
    auto run = [](void*) -> void* { return nullptr; };
    for (int i = 0; i < 600; ++i) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, run, nullptr) != 0) _exit(1);
      pthread_join(thread, nullptr);
    }
    auto open = [](void*) -> void* {
      Mask(SIG_UNBLOCK);
      while (!g_handled) {
      }
      return nullptr;
    };
    Handle(SIGTRAP, [](int, siginfo_t*, void*) { g_handled = true; });
    pthread_t thread;
    pthread_create(&thread, nullptr, open, nullptr);
    kill(getpid(), SIGTRAP);
    pthread_join(thread, nullptr);
    SayState();
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
