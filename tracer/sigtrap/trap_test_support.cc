#include "tracer/sigtrap/trap_test_support.h"

#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "tracer/base/interposed_state.h"
#include "tracer/base/own_page.h"

namespace pymemrun {

InterposedState g_interposed = {};  // of no traced process

namespace {

std::atomic<int> g_faults, g_late_faults;

// Pages that the handler is to touch itself.
alignas(kOwnPage) volatile char g_fresh[8][kOwnPage];
std::atomic<int> g_fresh_left;

void OnFault(const siginfo_t* info, void*) {
  (TrapSignal::CameLate(info) ? g_late_faults : g_faults).fetch_add(1);
  if (g_fresh_left > 0) g_fresh[--g_fresh_left][0] = 1;
}

// Returns whether the kernel lets us.
bool OpenEvents() {
  for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); ++cpu) {
    perf_event_attr event = {};
    event.size = sizeof(event);
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_PAGE_FAULTS;
    event.sample_period = 1;
    event.inherit = event.inherit_thread = event.sigtrap = 1;
    event.remove_on_exec = event.disabled = 1;
    event.sig_data = kPagePerfData;
    if (syscall(SYS_perf_event_open, &event, 0, cpu, -1, 0) < 0) return false;
  }
  return true;
}

}  // namespace

bool g_owned;
int g_said;

void TouchInHandler() {
  g_fresh_left = 8;
  const int late = g_late_faults;
  Touch(1);
  if (g_owned && (g_fresh_left != 0 || g_late_faults - late < 8)) {
    Say("%d left, %d late\n", g_fresh_left.load(), g_late_faults - late);
  }
}

void Touch(int pages) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = static_cast<size_t>(pages) * page;
  auto* bytes =
      static_cast<volatile char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (size_t at = 0; at < size; at += page) bytes[at] = 1;
  munmap(const_cast<char*>(bytes), size);
}

void Say(const char* format, ...) {
  char line[512];
  va_list list;
  va_start(list, format);
  const int size = vsnprintf(line, sizeof(line), format, list);
  va_end(list);
  ASSERT_EQ(write(g_said, line, size), size);
}

void AwaitCall(pid_t thread, int number) {
  const std::string path =
      "/proc/self/task/" + std::to_string(thread) + "/syscall";
  int found = -1;
  while (found != number) {
    FILE* file = fopen(path.c_str(), "r");
    if (file == nullptr || fscanf(file, "%d", &found) != 1) found = -1;
    if (file != nullptr) fclose(file);
  }
}

void ExpectPageSignals() {
  const int before = g_faults, late = g_late_faults;
  Touch(8);
  if (g_owned && (g_faults - before < 8 || g_late_faults != late)) {
    Say("%d page signals, %d late\n", g_faults - before, g_late_faults - late);
  }
}

constexpr int kRefused = 88;

Ended RunScenario(Scenario* scenario, bool owned) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    g_said = ends[1];
    close(ends[0]);
    g_owned = owned;
    if (owned && (!TrapSignal::Own(OnFault) || !OpenEvents() ||
                  !TrapSignal::EnableEvents())) {
      _exit(kRefused);
    }
    scenario();
    ExpectPageSignals();
    _exit(0);
  }
  close(ends[1]);
  Ended ended;
  char bytes[512];
  for (ssize_t got; (got = read(ends[0], bytes, sizeof(bytes))) > 0;) {
    ended.said.append(bytes, got);
  }
  close(ends[0]);
  waitpid(child, &ended.status, 0);
  return ended;
}

void ExpectTheSame(Scenario* scenario) {
  const Ended plain = RunScenario(scenario, false);
  const Ended owned = RunScenario(scenario, true);
  if (WIFEXITED(owned.status) && WEXITSTATUS(owned.status) == kRefused) {
    GTEST_SKIP() << "no perf events with signals here: Linux 6.1, and "
                    "kernel.perf_event_paranoid at most 1";
  }
  EXPECT_EQ(plain, owned);
}

void SayState() {
  sigset_t mask, pending;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  sigpending(&pending);
  struct sigaction action;
  sigaction(SIGTRAP, nullptr, &action);
  Say("blocked %d pending %d handler %p flags %x mask %d %d\n",
      sigismember(&mask, SIGTRAP), sigismember(&pending, SIGTRAP),
      reinterpret_cast<void*>(action.sa_handler), action.sa_flags,
      sigismember(&action.sa_mask, SIGTRAP),
      sigismember(&action.sa_mask, SIGUSR1));
}

void Mask(int how, bool all) {
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  if (all) sigfillset(&set);
  sigemptyset(&old);
  const int result = pthread_sigmask(how, &set, &old);
  Say("mask: %d, was %d\n", result, sigismember(&old, SIGTRAP));
}

void Handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags,
            int also_masked) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  if (also_masked != 0) sigaddset(&action.sa_mask, also_masked);
  Say("sigaction: %d\n", sigaction(signal, &action, nullptr));
}

void SayHandled(int number, siginfo_t* info, void*) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  Say("handler: %d code %d own %d; blocked: TRAP %d USR1 %d\n", number,
      info->si_code, info->si_pid == getpid(), sigismember(&mask, SIGTRAP),
      sigismember(&mask, SIGUSR1));
  Touch();
}

}  // namespace pymemrun
