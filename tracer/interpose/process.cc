// Calls that end the program's image.
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "tracer/base/interposed_state.h"
#include "tracer/base/statm.h"
#include "tracer/interpose/interposed.h"
#include "tracer/interpose/started_programs.h"
#include "tracer/requests/request_signal.h"
#include "tracer/sigtrap/trap_exec.h"

namespace pymemrun {

InterposedState g_interposed = {};

namespace {

// Marks an exec as under way for its lifetime. If this image then ends, the
// collector takes that for an exec. The destructor withdraws the mark when the
// call fails.
class ExecMark {
 public:
  ExecMark(const char* path, char* const* argv, char* const* envp)
      : page_(TracedPage()), trap_(path, argv, envp) {
    if (page_ != nullptr) {
      TellRss(Statm::ReadAnew(), Statm::ReadHwmPages());
      page_->exec_pending.store(1, std::memory_order_seq_cst);
      RequestSignal::BeforeExec(page_);
      if (!HasTracer(envp)) TellExec(path);
    }
    CountVforkChild(envp);
  }
  ~ExecMark() {
    if (page_ == nullptr) return;
    RequestSignal::AfterExec();
    TellRss(0, 0);
    page_->exec_pending.store(0, std::memory_order_release);
  }
  ExecMark(const ExecMark&) = delete;
  ExecMark& operator=(const ExecMark&) = delete;

 private:
  // Stores RSS, which cannot be read once the new program runs.
  void TellRss(uint32_t rss_pages, uint64_t hwm_pages) {
    if (page_->finalize_ns.load(std::memory_order_relaxed) != 0) return;
    page_->finalize_rss_pages = rss_pages;
    page_->finalize_hwm_pages = hwm_pages;
  }

  // A vfork child that is about to exec runs in the parent's memory. In any
  // other child the hot page is wiped. execvp may try several folders of $PATH,
  // so a child is counted once.
  void CountVforkChild(char* const* envp) {
    static std::atomic<pid_t> last_child = 0;
    HotState& hot = Hot();
    if (page_ != nullptr || hot.page == nullptr) return;
    if (last_child.exchange(getpid(), std::memory_order_relaxed) == getpid()) {
      return;
    }
    CountStarted(envp);
  }

  ControlPage* page_;
  const TrapForExec trap_;
};

// Calls `exec` with the arguments of an execl-like call as an array, with the
// closing null. `list` is behind that null then.
template <typename Exec>
int WithArguments(const char* first, va_list list, Exec exec) {
  va_list ahead;
  va_copy(ahead, list);
  int count = 1;
  if (first != nullptr) {
    do {
      ++count;
    } while (va_arg(ahead, char*) != nullptr);
  }
  va_end(ahead);
  char* argv[count];  // on the stack: a vfork child may not allocate
  argv[0] = const_cast<char*>(first);
  for (int i = 1; i < count; ++i) argv[i] = va_arg(list, char*);
  return exec(argv);
}

std::atomic<void (*)(int)> g_told_exit{nullptr};

// Reports the end of the process. Not that of a vfork child.
void TellExit(int status) {
  const auto told = g_told_exit.load(std::memory_order_acquire);
  if (told != nullptr && TracedPage() != nullptr) told(status);
}

}  // namespace

bool Interposed::Enable(pid_t pid, ControlPage* page) {
  if (madvise(&g_interposed, sizeof(g_interposed), MADV_WIPEONFORK) != 0) {
    return false;
  }
  g_interposed.pid = pid;
  g_interposed.page.store(page, std::memory_order_release);
  return true;
}
void Interposed::NoticeExit(void (*told)(int status)) {
  g_told_exit.store(told, std::memory_order_release);
}
ControlPage* Interposed::page() {
  return g_interposed.page.load(std::memory_order_acquire);
}

}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE void _exit(int status) {
  TellExit(status);
  PYMEMRUN_NEXT(_exit)(status);
  __builtin_unreachable();
}

PYMEMRUN_INTERPOSE void _Exit(int status) noexcept { _exit(status); }

PYMEMRUN_INTERPOSE int execve(const char* path, char* const* argv,
                              char* const* envp) noexcept {
  const ExecMark mark(path, argv, envp);
  return PYMEMRUN_NEXT(execve)(path, argv, envp);
}

PYMEMRUN_INTERPOSE int execv(const char* path, char* const* argv) noexcept {
  return execve(path, argv, environ);
}

PYMEMRUN_INTERPOSE int execvpe(const char* file, char* const* argv,
                               char* const* envp) noexcept {
  const ExecMark mark(file, argv, envp);
  return PYMEMRUN_NEXT(execvpe)(file, argv, envp);
}

PYMEMRUN_INTERPOSE int execvp(const char* file, char* const* argv) noexcept {
  return execvpe(file, argv, environ);
}

PYMEMRUN_INTERPOSE int fexecve(int fd, char* const* argv,
                               char* const* envp) noexcept {
  const ExecMark mark(nullptr, argv, envp);
  return PYMEMRUN_NEXT(fexecve)(fd, argv, envp);
}

PYMEMRUN_INTERPOSE int execveat(int dir, const char* path, char* const* argv,
                                char* const* envp, int flags) noexcept {
  const ExecMark mark(path, argv, envp);
  return PYMEMRUN_NEXT(execveat)(dir, path, argv, envp, flags);
}

PYMEMRUN_INTERPOSE int execl(const char* path, const char* arg, ...) noexcept {
  va_list list;
  va_start(list, arg);
  const int result = WithArguments(
      arg, list, [&](char* const* argv) { return execv(path, argv); });
  va_end(list);
  return result;
}

PYMEMRUN_INTERPOSE int execlp(const char* file, const char* arg, ...) noexcept {
  va_list list;
  va_start(list, arg);
  const int result = WithArguments(
      arg, list, [&](char* const* argv) { return execvp(file, argv); });
  va_end(list);
  return result;
}

PYMEMRUN_INTERPOSE int execle(const char* path, const char* arg, ...) noexcept {
  va_list list;
  va_start(list, arg);
  const int result = WithArguments(arg, list, [&](char* const* argv) {
    return execve(path, argv, va_arg(list, char* const*));
  });
  va_end(list);
  return result;
}
