// SIGTRAP while it is ours: what threads, children and new programs begin with.
#include "tracer/sigtrap/trap_exec.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/sigtrap/kernel_signals.h"
#include "tracer/sigtrap/trap_test_support.h"

namespace pymemrun {
namespace {

// Says its own signal state.
char g_grep[] = "grep", g_pattern[] = "^Sig[PBIC]\\|^Shd",
     g_status[] = "/proc/self/status";
char* const g_argv[] = {g_grep, g_pattern, g_status, nullptr};
constexpr char kGrep[] = "/bin/grep";

void Exec(const char* path) {
  if (dup2(g_said, 1) != 1) _exit(3);
  const TrapForExec exec(path, g_argv, environ);
  execve(path, g_argv, environ);
}

void Reap(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  Say("child: %d\n", status);
}

void Spawn(const posix_spawnattr_t* attributes) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, g_said, 1);
  pid_t child = -1;
  const int result =
      posix_spawn(&child, kGrep, &actions, attributes, g_argv, environ);
  Reap(child);
  Say("spawn %d\n", result);
}

TEST(TrapExecTest, TheNewProgramFindsWhatWasSet) {
  ExpectTheSame([] {
    Touch();
    Exec(kGrep);
  });
  ExpectTheSame([] {
    signal(SIGTRAP, SIG_IGN);
    Exec(kGrep);
  });
  ExpectTheSame([] {
    Mask(SIG_BLOCK, true);
    Touch();
    Exec(kGrep);
  });
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    kill(getpid(), SIGTRAP);
    SayState();
    Exec(kGrep);
  });
  ExpectTheSame([] {
    signal(SIGTRAP, SIG_IGN);
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    Exec(kGrep);
  });
}

// The path is in a file's page, which is not in memory until the kernel reads
// it there.
char* FreshPath() {
  const int file = memfd_create("path", 0);
  EXPECT_EQ(write(file, kGrep, sizeof(kGrep)), ssize_t{sizeof(kGrep)});
  void* page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  return static_cast<char*>(page);
}

TEST(TrapExecTest, AFaultInTheCallItselfDoesNotReachTheNewProgram) {
  ExpectTheSame([] { Exec(FreshPath()); });
  ExpectTheSame([] {
    pthread_t thread;
    auto run = [](void*) -> void* {
      Exec(FreshPath());
      return nullptr;
    };
    pthread_create(&thread, nullptr, run, nullptr);
    pthread_join(thread, nullptr);
  });
}

TEST(TrapExecTest, FromAThread) {
  static bool block;
  auto scenario = [] {
    if (block) Mask(SIG_BLOCK, true);
    pthread_t thread;
    auto run = [](void*) -> void* {
      Touch(100);
      Exec(kGrep);
      return nullptr;
    };
    pthread_create(&thread, nullptr, run, nullptr);
    pthread_join(thread, nullptr);
  };
  for (int i = 0; i < 20; ++i) {
    block = i % 2 == 1;
    ExpectTheSame(scenario);
  }
}

TEST(TrapExecTest, TheMainThreadHearsWhileAPageSignalIsPending) {
  static std::atomic<bool> go;
  ExpectTheSame([] {
    pthread_t thread;
    const auto run = [](void*) -> void* {
      while (!go) sched_yield();
      Say("%d\n", !TrapSignal::owned() || TrapSignal::DisableEvents());
      return nullptr;
    };
    pthread_create(&thread, nullptr, run, nullptr);
    ChangeRealMask(SIG_BLOCK, kTrapBit);
    Touch(1);
    go = true;
    usleep(20000);
    ChangeRealMask(SIG_UNBLOCK, kTrapBit);
    pthread_join(thread, nullptr);
    if (TrapSignal::owned()) TrapSignal::EnableEvents();
  });
}

TEST(TrapExecTest, FromAThreadWhileTheMainOneWaitsForTheSignal) {
  ExpectTheSame([] {
    Mask(SIG_BLOCK, true);
    auto run = [](void*) -> void* {
      AwaitCall(getpid(), SYS_rt_sigtimedwait);
      Exec("/nonexistent/program");
      Say("errno %d\n", errno);
      Exec(kGrep);
      return nullptr;
    };
    pthread_t thread;
    pthread_create(&thread, nullptr, run, nullptr);
    sigset_t set;
    sigfillset(&set);
    int number = 0;
    Say("wait %d\n", sigwait(&set, &number));
  });
}

TEST(TrapExecTest, AFailedExecChangesNothing) {
  static auto* const fail = +[] {
    Exec("/nonexistent/program");
    Say("errno %d\n", errno);
    SayState();
    ExpectPageSignals();
  };
  ExpectTheSame([] {
    fail();
    raise(SIGTRAP);
  });
  ExpectTheSame([] {
    signal(SIGTRAP, SIG_IGN);
    fail();
    raise(SIGTRAP);
  });
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    fail();
    raise(SIGTRAP);
  });
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    kill(getpid(), SIGTRAP);
    fail();
    Mask(SIG_UNBLOCK);
    SayState();
  });
}

TEST(TrapExecTest, SpawnedProgramsInherit) {
  ExpectTheSame([] { Spawn(nullptr); });
  ExpectTheSame([] {
    signal(SIGTRAP, SIG_IGN);
    Spawn(nullptr);
    SayState();
  });
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Spawn(nullptr);
  });
  ExpectTheSame([] {
    Mask(SIG_BLOCK);
    Spawn(nullptr);
    SayState();
  });
  ExpectTheSame([] {
    signal(SIGTRAP, SIG_IGN);
    Mask(SIG_BLOCK);
    posix_spawnattr_t attributes;
    sigset_t none, trap;
    sigemptyset(&none);
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &trap);
    Spawn(&attributes);
    SayState();
  });
}

TEST(TrapExecTest, ShellsInherit) {
  ExpectTheSame([] {
    signal(SIGTRAP, SIG_IGN);
    Mask(SIG_BLOCK);
    dup2(g_said, 1);
    Say("system %d\n", system("grep '^Sig[BI]' /proc/self/status"));
    FILE* pipe = popen("grep '^Sig[BI]' /proc/self/status", "r");
    for (int c; (c = fgetc(pipe)) != EOF;) Say("%c", c);
    Say("pclose %d\n", pclose(pipe));
    SayState();
  });
}

TEST(TrapForkTest, AForkedChildGoesOn) {
  static bool block;
  static auto* const scenario = +[] {
    Handle(SIGTRAP, SayHandled);
    if (block) {
      Mask(SIG_BLOCK);
      raise(SIGTRAP);
      kill(getpid(), SIGTRAP);
    }
    const pid_t child = fork();
    if (child == 0) {
      SayState();
      raise(SIGTRAP);
      SayState();
      Mask(SIG_UNBLOCK);
      signal(SIGTRAP, SIG_DFL);
      raise(SIGTRAP);
      _exit(0);
    }
    Reap(child);
    SayState();
    Mask(SIG_UNBLOCK);
  };
  block = false;
  ExpectTheSame(scenario);
  block = true;
  ExpectTheSame(scenario);
}

TEST(TrapForkTest, SoDoesOneThatNoHandlerOfForkKnowsOf) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    const pid_t child = _Fork();
    if (child == 0) {
      raise(SIGTRAP);
      SayState();
      _exit(0);
    }
    Reap(child);
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    const pid_t second = _Fork();
    if (second == 0) {
      kill(getpid(), SIGTRAP);
      SayState();
      Mask(SIG_UNBLOCK);
      _exit(0);
    }
    Reap(second);
    Mask(SIG_UNBLOCK);
  });
}

// Between vfork and exec the child runs in the parent's memory.
TEST(TrapForkTest, AVforkChildHasSignalsOfItsOwn) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Mask(SIG_BLOCK, true);
    Touch();
    const pid_t child = vfork();
    if (child == 0) {
      SayState();
      raise(SIGTRAP);
      SayState();
      signal(SIGTRAP, SIG_IGN);
      Mask(SIG_UNBLOCK);
      SayState();
      Exec(kGrep);
      _exit(1);
    }
    Reap(child);
    SayState();
    raise(SIGTRAP);
    Mask(SIG_UNBLOCK, true);
    SayState();
  });
}

TEST(TrapForkTest, AVforkChildThatOnlyExecsInherits) {
  static bool ignore;
  static auto* const scenario = +[] {
    if (ignore) signal(SIGTRAP, SIG_IGN);
    Mask(SIG_BLOCK);
    const pid_t child = vfork();
    if (child == 0) {
      Exec("/nonexistent/program");
      Exec(kGrep);
      _exit(1);
    }
    Reap(child);
    SayState();
  };
  for (const bool value : {false, true}) {
    ignore = value;
    ExpectTheSame(scenario);
  }
}

TEST(TrapForkTest, AVforkChildMayDieByIt) {
  ExpectTheSame([] {
    const pid_t child = vfork();
    if (child == 0) {
      raise(SIGTRAP);
      _exit(1);
    }
    Reap(child);
    SayState();
  });
}

TEST(TrapThreadTest, ThreadsBeginAsTheirMakerIs) {
  static auto* const make = +[](const pthread_attr_t* attributes) {
    auto run = [](void* argument) -> void* {
      SayState();
      ExpectPageSignals();
      Say("argument %d\n", *static_cast<int*>(argument));
      Mask(SIG_UNBLOCK);
      return argument;
    };
    pthread_t thread;
    int argument = 7;
    void* result = nullptr;
    const int made = pthread_create(&thread, attributes, run, &argument);
    pthread_join(thread, &result);
    Say("create %d result %d\n", made, result == &argument);
  };
  ExpectTheSame([] { make(nullptr); });
  ExpectTheSame([] {
    Mask(SIG_BLOCK, true);
    make(nullptr);
    SayState();
  });
  ExpectTheSame([] {
    pthread_attr_t attributes;
    sigset_t set;
    pthread_attr_init(&attributes);
    sigfillset(&set);
    pthread_attr_setsigmask_np(&attributes, &set);
    make(&attributes);
    SayState();
    Mask(SIG_BLOCK);
    sigemptyset(&set);
    pthread_attr_setsigmask_np(&attributes, &set);
    make(&attributes);
  });
}

TEST(TrapReleaseTest, EverythingIsRealAgain) {
  ExpectTheSame([] {
    Handle(SIGTRAP, SayHandled);
    Mask(SIG_BLOCK);
    raise(SIGTRAP);
    TrapSignal::Release();
    g_owned = false;
    SayState();
    Touch();
    Mask(SIG_UNBLOCK);
    SayState();
  });
}

}  // namespace
}  // namespace pymemrun
