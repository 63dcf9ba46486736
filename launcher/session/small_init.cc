#include "launcher/session/small_init.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace pymemrun {
namespace {

constexpr int64_t kInitPatienceMs = 5000;

int64_t NowMs() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000} + now.tv_nsec / 1000000;
}

// Whether a signal of that number ends a process that does nothing about it;
// -1: no signal came.
bool EndsAProcess(int number) {
  switch (number) {
    case -1:
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return false;
    default:
      return true;
  }
}

// All signals are blocked and taken one at a time, so no handler is needed.
class SmallInit {
 public:
  SmallInit(pid_t program, const ControlPage* page)
      : program_(program), page_(page) {
    sigfillset(&all_);
  }

  [[noreturn]] void Run() {
    while (!ended_) {
      siginfo_t signal;
      if (sigwaitinfo(&all_, &signal) < 0) continue;
      // First, for a number that was reaped may be another process's.
      Reap();
      if (!ended_ && signal.si_signo != SIGCHLD) Forward(signal);
    }
    WaitForCollector();
    EndAsProgram();
  }

 private:
  void Forward(const siginfo_t& signal) {
    // What the terminal sends it sends to the whole foreground group, the
    // program included.
    if (signal.si_code == SI_KERNEL && getpgid(program_) == getpgrp()) return;
    kill(program_, signal.si_signo);
  }

  // Returns false when there is no child at all.
  bool Reap() {
    while (true) {
      int status = 0;
      pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) return pid == 0;
      if (pid != program_) continue;
      if (WIFSTOPPED(status)) {
        StopToo();
      } else {
        ended_ = true;
        status_ = status;
      }
    }
  }

  // Our parent's shell watches us, not the program. PID 1 cannot stop; there
  // the program simply stays stopped until it is continued.
  void StopToo() {
    if (getpid() == 1) return;
    kill(getpid(), SIGSTOP);
    kill(program_, SIGCONT);  // we run again: somebody sent us SIGCONT
  }

  // Until it has finished, or a signal comes that is to end us.
  void WaitForCollector() {
    // As PID 1 we take everything with us when we end, the collector included.
    if (page_ == nullptr || page_->traced_pid == 0) return;
    int64_t deadline = NowMs() + kInitPatienceMs;
    const ReplyPage& reply = ReplyOf(page_);
    while (reply.done_state.load(std::memory_order_acquire) == 0 && Reap() &&
           NowMs() < deadline) {
      struct timespec pause = {0, 1000000};
      if (EndsAProcess(sigtimedwait(&all_, nullptr, &pause))) return;
    }
  }

  // A shell tells an exit from a signal by the wait status, so this process
  // ends in the same way. The kernel does not deliver fatal signals to PID 1
  // (kill(2)), which ends with the number that a shell would show.
  [[noreturn]] void EndAsProgram() {
    if (WIFEXITED(status_)) _exit(WEXITSTATUS(status_));
    int number = WTERMSIG(status_);
    if (getpid() != 1) {
      struct rlimit no_core = {0, 0};  // the program has left the core
      setrlimit(RLIMIT_CORE, &no_core);
      signal(number, SIG_DFL);
      kill(getpid(), number);
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, number);
      sigprocmask(SIG_UNBLOCK, &one, nullptr);
    }
    _exit(128 + number);
  }

  const pid_t program_;
  const ControlPage* const page_;
  sigset_t all_;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace

bool AdoptsOrphans() {
  int subreaper = 0;
  if (prctl(PR_GET_CHILD_SUBREAPER, &subreaper) != 0) subreaper = 0;
  return getpid() == 1 || subreaper != 0;
}

void BecomeSmallInit(const ControlPage* page) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  // An ignored SIGCHLD would lose the program's status. Changed only before the
  // fork: a change drops the signal of a program that has ended by then.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  struct sigaction inherited;
  sigaction(SIGCHLD, &standard, &inherited);
  pid_t program = fork();
  if (program <= 0) {
    // The child; or no child can be made, then the program runs here.
    sigaction(SIGCHLD, &inherited, nullptr);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  SmallInit(program, page).Run();
}

}  // namespace pymemrun
