#include "tracer/objects/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

#include "tracer/wire/object_wire.h"

namespace pymemrun {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;

// By system call: handlers of pthread_atfork() must not run, and exit signal 0
// sends no SIGCHLD.
pid_t RawFork() {
  return static_cast<pid_t>(
      syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
}

void* MapStack() {
  void* stack = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, kStackBytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0));
  return stack == MAP_FAILED ? nullptr : stack;
}

// Runs function(arg) in a process that shares our memory, until it ends or
// executes something. Returns its number, or -1 with errno set.
pid_t RunBeside(int (*function)(void* arg), void* arg) {
  void* const stack = MapStack();
  if (stack == nullptr) return -1;
  // Without a signal number in the flags it sends no signal when it ends.
  const pid_t beside = clone(function, static_cast<char*>(stack) + kStackBytes,
                             CLONE_VM | CLONE_VFORK, arg);
  const int error = errno;
  syscall(SYS_munmap, stack, kStackBytes);
  errno = error;
  return beside;
}

// __WALL: a child that sends no signal is not waited for otherwise (wait4(2)).
void WaitFor(pid_t child) {
  while (syscall(SYS_wait4, child, nullptr, __WALL, nullptr) < 0 &&
         errno == EINTR) {
  }
}

struct Start {
  void (*function)(void* arg);
  void* arg;
  int error;
};

// Runs in a process between the program and the copy, which is an orphan when
// this one ends.
int ForkBeside(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  // The copy can be killed from its first moment on. During that time the
  // kernel has no reason to choose this process, and the program keeps its own
  // value.
  ChildProcess::BecomeExpendable();
  const pid_t child = RawFork();
  if (child == 0) start.function(start.arg);
  start.error = child < 0 ? errno : 0;
  return 0;
}

// If the program adopts orphans: a copy that may have ended, and that nothing
// else reaps.
constinit pid_t g_own_child = 0;

constinit pid_t g_collector = 0;  // in the child: its own

void WriteText(const char* path, const char* text) {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0) return;
  syscall(SYS_write, fd, text, strlen(text));
  syscall(SYS_close, fd);
}

void CloseFrom(unsigned first, unsigned last) {
  if (first > last) return;
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
  constexpr unsigned kHighest = 65535;  // kernels before 5.9: a bounded loop
  for (unsigned fd = first; fd <= last && fd <= kHighest; ++fd) {
    syscall(SYS_close, fd);
  }
}

struct Executed {
  const char* path;
  const char* const* argv;
  int fds[3];  // as kObjectPipeFd and those behind it
  int error;
};

// Runs in a process that shares the memory of the copy. The descriptors are
// moved aside first, because their numbers may overlap the wanted ones.
int Execute(void* argument) {
  static_assert(kObjectOutputFd == kObjectPipeFd + 1);
  static_assert(kObjectStatusFd == kObjectPipeFd + 2);
  Executed& executed = *static_cast<Executed*>(argument);
  constexpr int kAside = 16;
  int aside[3];
  for (int i = 0; i < 3; ++i) {
    aside[i] =
        static_cast<int>(syscall(SYS_fcntl, executed.fds[i], F_DUPFD, kAside));
    if (aside[i] < 0) {
      executed.error = errno;
      return 1;
    }
  }
  for (int i = 0; i < 3; ++i) {
    syscall(SYS_dup3, aside[i], kObjectPipeFd + i, 0);
  }
  CloseFrom(0, 2);
  for (int fd = 0; fd <= 2; ++fd) {
    syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
  }
  CloseFrom(kObjectStatusFd + 1, ~0u);
  uint64_t none = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof(none));
  const char* const environment[] = {"PATH=/usr/bin:/bin", nullptr};
  syscall(SYS_execve, executed.path, executed.argv, environment);
  executed.error = errno;
  return 1;
}

// The limits of the program do not bind its copy.
void RaiseLimits() {
  for (const auto resource :
       {RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA}) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
}

}  // namespace

bool ChildProcess::AdoptsOrphans() {
  int subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  return subreaper != 0 || getpid() == 1;
}

void ChildProcess::ReapOwnChild() {
  if (g_own_child == 0) return;
  const long reaped =
      syscall(SYS_wait4, g_own_child, nullptr, __WALL | WNOHANG, nullptr);
  if (reaped != 0) g_own_child = 0;
}

int ChildProcess::Fork(bool orphans, void (*start)(void* arg), void* arg) {
  ReapOwnChild();
  // The handlers of the program must run in neither process.
  uint64_t all = ~uint64_t{0}, before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
  Start fork = {start, arg, 0};
  int error = 0;
  if (orphans) {
    const pid_t child = RawFork();
    if (child == 0) start(arg);
    error = child < 0 ? errno : 0;
    if (child > 0) g_own_child = child;
  } else {
    const pid_t beside = RunBeside(ForkBeside, &fork);
    error = beside < 0 ? errno : fork.error;
    if (beside > 0) WaitFor(beside);
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof(before));
  return error;
}

void ChildProcess::BecomeExpendable() {
  WriteText("/proc/self/oom_score_adj", "1000");
}

void ChildProcess::Detach() {
  syscall(SYS_setsid);
  prctl(PR_SET_NAME, "pymemrun-objs");
  RaiseLimits();
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

// C code of the program's types runs in the copy and may crash. On a stack of
// its own, as a crash may be an overflow of the stack.
void ChildProcess::CatchCrashes(void (*crash)(int signal)) {
  prctl(PR_SET_DUMPABLE, 0);  // a program that takes core files gets none
  stack_t aside = {};
  aside.ss_sp = MapStack();
  aside.ss_size = kStackBytes;
  if (aside.ss_sp != nullptr) sigaltstack(&aside, nullptr);
  struct sigaction action = {};
  action.sa_handler = crash;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigfillset(&action.sa_mask);
  sigset_t those;
  sigemptyset(&those);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigaction(number, &action, nullptr);
    sigaddset(&those, number);
  }
  sigprocmask(SIG_UNBLOCK, &those, nullptr);
}

// Sorts the three, then closes the ranges between them.
void ChildProcess::CloseAllBut(int a, int b, int c) {
  const auto swap = [](int* x, int* y) {
    if (*x > *y) {
      const int was = *x;
      *x = *y;
      *y = was;
    }
  };
  swap(&a, &b);
  swap(&b, &c);
  swap(&a, &b);
  if (a > 0) CloseFrom(0, static_cast<unsigned>(a - 1));
  CloseFrom(static_cast<unsigned>(a + 1), static_cast<unsigned>(b - 1));
  CloseFrom(static_cast<unsigned>(b + 1), static_cast<unsigned>(c - 1));
  CloseFrom(static_cast<unsigned>(c + 1), ~0u);
}

int ChildProcess::StartCollector(const char* path, const char* const* argv,
                                 int pipe, int output, int status) {
  Executed executed = {path, argv, {pipe, output, status}, 0};
  g_collector = RunBeside(Execute, &executed);
  return g_collector < 0 ? errno : executed.error;
}

void ChildProcess::WaitForCollector() { WaitFor(g_collector); }

}  // namespace pymemrun
