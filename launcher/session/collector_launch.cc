#include "launcher/session/collector_launch.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "collector/session/collector_start.h"
#include "launcher/session/own_files.h"

extern char** environ;

namespace pymemrun {
namespace {

// A child that sends no SIGCHLD when it ends: the program must not find one
// pending. The raw call runs no fork handlers.
pid_t ForkQuietly() {
  const auto fork_with = [](int signal) {
    return static_cast<pid_t>(
        syscall(SYS_clone, signal, nullptr, nullptr, nullptr, 0));
  };
  const pid_t child = fork_with(0);
  // qemu, where it runs another processor's programs, knows only the usual one.
  return child < 0 && errno == EINVAL ? fork_with(SIGCHLD) : child;
}

void WaitFor(pid_t child) {
  while (waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

// exec resets handlers but leaves ignored signals ignored (execve(2)), and the
// mask stays. The collector begins with neither.
void ResetSignals() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    sigaction(number, &standard, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The program's soft limits are not meant for its collector.
void RaiseLimits() {
  for (int resource :
       {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE}) {
    struct rlimit limit;
    if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) {
      continue;
    }
    limit.rlim_cur = limit.rlim_max;
    setrlimit(static_cast<__rlimit_resource>(resource), &limit);
  }
}

void CloseRange(int first, int last) {
  if (first > last) return;
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
  constexpr int kHighest = 65535;  // kernels before 5.9: a bounded loop
  for (int fd = first; fd <= std::min(last, kHighest); ++fd) close(fd);
}

// The ranges between the kept ones, from the lowest up. No list of open
// descriptors is read, which would need one and memory.
void CloseAllBut(const int* fds, int count) {
  int next = 0;  // all below it are done
  while (true) {
    int kept = INT_MAX;
    for (int i = 0; i < count; ++i) {
      if (fds[i] >= next) kept = std::min(kept, fds[i]);
    }
    CloseRange(next, kept == INT_MAX ? INT_MAX : kept - 1);
    if (kept == INT_MAX) return;
    next = kept + 1;
  }
}

// Puts the `count` descriptors at first, first + 1, ..., the last of them
// close-on-exec; closes all others; 0-2 become /dev/null. Makes do with one
// free number, because a program may be run with very few. REQUIRES: first > 2.
bool ArrangeDescriptors(int* fds, int count, int first) {
  CloseAllBut(fds, count);
  for (int i = 0; i < count; ++i) {
    int target = first + i;
    if (fds[i] == target) continue;
    // A later one may be at the place that this one is to have: it moves.
    for (int j = i + 1; j < count; ++j) {
      if (fds[j] == target && (fds[j] = dup(target)) < 0) return false;
    }
    if (dup2(fds[i], target) < 0) return false;
    close(fds[i]);
    fds[i] = target;
  }
  for (int i = 0; i < count; ++i) {
    fcntl(fds[i], F_SETFD, i == count - 1 ? FD_CLOEXEC : 0);
  }
  for (int fd = 0; fd <= 2; ++fd) {
    if (open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

// PATH and the local time's zone, nothing of the user's.
std::vector<char*> SmallEnvironment() {
  static char path[] = "PATH=/usr/bin:/bin";
  std::vector<char*> variables = {path};
  for (char** entry = environ; entry != nullptr && *entry; ++entry) {
    if (std::strncmp(*entry, "TZ=", 3) == 0) variables.push_back(*entry);
  }
  variables.push_back(nullptr);
  return variables;
}

// Report about a start, from one of the processes that make it.
struct StartNote {
  int error;  // 0, or the errno of a failure
  pid_t collector;
};

// Whether it could be told.
bool Tell(int status, const StartNote& note) {
  return write(status, &note, sizeof note) == sizeof note;
}

// A start of the collector, and the stacks of both processes that make it.
struct Start {
  const char* path;
  char* const* environment;
  std::vector<int>* fds;
  int status;
  char* stacks;
};
constexpr size_t kStackBytes = 32 * 1024;

// Runs `body` in a child that shares our memory, and stands still until it
// executes a program or ends: to copy the page tables of a large program would
// take longer than all the rest. `stack`: which of the stacks it runs on.
// Memory is shared, but descriptors, handlers, mask and limits are the child's
// own (clone(2)).
pid_t StartSharing(int (*body)(void*), Start* start, int stack) {
  char* const top = start->stacks + (stack + 1) * kStackBytes;
  const int flags = CLONE_VM | CLONE_VFORK;
  const pid_t child = clone(body, top, flags, start);
  // As in ForkQuietly().
  return child < 0 && errno == EINVAL ? clone(body, top, flags | SIGCHLD, start)
                                      : child;
}

// In the collector-to-be: does not return. Tells of a failure; a successful
// exec closes the pipe.
//
// Allocates nothing: another thread may have held the allocator's lock.
int BecomeCollector(void* argument) {
  const Start& start = *static_cast<Start*>(argument);
  std::vector<int>& fds = *start.fds;
  setsid();
  ResetSignals();
  RaiseLimits();
  const bool arranged = ArrangeDescriptors(
      fds.data(), static_cast<int>(fds.size()), kCollectorRegionFd);
  if (arranged) {
    if (chdir("/") != 0) errno = 0;  // only so as not to hold the folder
    char name[sizeof kCollectorProgram];
    std::memcpy(name, kCollectorProgram, sizeof name);
    char* arguments[] = {name, nullptr};
    execve(start.path, arguments, start.environment);
  }
  _exit(Tell(fds.back(), {errno, 0}) ? 127 : 126);
}

// The middle process ends at once, so the program gets no new child.
int StartAndEnd(void* argument) {
  Start* const start = static_cast<Start*>(argument);
  const pid_t started = StartSharing(BecomeCollector, start, 1);
  _exit(Tell(start->status, {started < 0 ? errno : 0, started}) ? 0 : 126);
}

// As the collector is to have them, and where it tells of a failed start.
std::vector<int> DescriptorsOf(const CollectorFiles& files, int status) {
  static_assert(kCollectorOutputFd == kCollectorRegionFd + 1);
  static_assert(kCollectorPidFd == kCollectorRegionFd + 2);
  static_assert(kCollectorTextFd == kCollectorRegionFd + 3);
  static_assert(kCollectorReplyFd == kCollectorRegionFd + 4);
  static_assert(kCollectorPageFds == kCollectorRegionFd + 5);
  std::vector<int> fds = {files.region, files.output, files.pid, files.text,
                          files.reply};
  fds.insert(fds.end(), files.pages.begin(), files.pages.end());
  fds.insert(fds.end(), files.states.begin(), files.states.end());
  fds.push_back(status);
  return fds;
}

// While it lives this thread takes no signals: a process that is about to be
// the collector must not run the program's handlers.
class SignalsAside {
 public:
  SignalsAside() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsAside() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsAside(const SignalsAside&) = delete;
  SignalsAside& operator=(const SignalsAside&) = delete;

 private:
  sigset_t before_;
};

bool CanExecute(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

// Reads to the end of a pipe; at most `size` bytes are kept.
size_t ReadAll(int fd, char* buffer, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    ssize_t count = read(fd, buffer + filled, size - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    filled += static_cast<size_t>(count);
  }
  return filled;
}

}  // namespace

std::string FindCollector(const std::string& override_path) {
  if (!override_path.empty()) {
    return CanExecute(override_path) ? override_path : "";
  }
  return FindOwn(
      kCollectorProgram,
      {"", "../collector/", "../libexec/pymemrun/", "../../libexec/pymemrun/"});
}

std::string FindReporter() {
  return FindOwn("pymemreport", {"", "../readers/", "../../bin/"});
}

std::string LaunchTextOf(const LaunchFacts& facts) {
  std::string text;
  for (const auto& [key, value] : facts) {
    text += key + "=" + value.c_str();
    text += '\0';
  }
  return text;
}

// A file in memory can hold any size, has no name, and goes with its last
// descriptor (memfd_create(2)).
int MakeLaunchText(const std::string& text) {
  int fd = memfd_create("pymemrun-launch", MFD_CLOEXEC);
  if (fd < 0) return -1;
  size_t done = 0;
  while (done < text.size()) {
    ssize_t count = pwrite(fd, text.data() + done, text.size() - done,
                           static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      close(fd);
      return -1;
    }
    done += static_cast<size_t>(count);
  }
  return fd;
}

// Both children use this process's memory while it stands still. The pipe tells
// of the result: each child may write a note, and the end comes when exec has
// closed the last copy. So the collector runs once this returns 0.
int StartCollector(const std::string& path, const CollectorFiles& files,
                   pid_t* collector) {
  std::vector<char*> environment = SmallEnvironment();
  int status[2];
  if (pipe2(status, O_CLOEXEC) != 0) return errno;
  std::vector<int> fds = DescriptorsOf(files, status[1]);
  const std::unique_ptr<char[]> stacks(new char[2 * kStackBytes]);
  Start start = {path.c_str(), environment.data(), &fds, status[1],
                 stacks.get()};
  const SignalsAside aside;
  const pid_t middle = StartSharing(StartAndEnd, &start, 0);
  int error = middle < 0 ? errno : 0;
  close(status[1]);
  if (middle > 0) {
    WaitFor(middle);
    StartNote notes[2] = {};
    ReadAll(status[0], reinterpret_cast<char*>(notes), sizeof notes);
    for (const StartNote& note : notes) {
      if (note.error != 0) error = note.error;
      if (note.collector > 0) *collector = note.collector;
    }
  }
  close(status[0]);
  return error;
}

// In a process of its own: decompressing a file of unknown content is not for
// the process that runs the user's program. It is rare, so the page tables may
// be copied for it.
std::string AskNameOf(const std::string& path, const std::string& file) {
  std::vector<char*> environment = SmallEnvironment();
  int answer[2];
  if (pipe2(answer, O_CLOEXEC) != 0) return {};
  pid_t helper = ForkQuietly();
  if (helper == 0) {
    ResetSignals();
    int fds[] = {answer[1]};
    if (!ArrangeDescriptors(fds, 1, 3)) _exit(127);
    if (dup2(fds[0], STDOUT_FILENO) < 0) _exit(127);
    execle(path.c_str(), kCollectorProgram, "--name-of", file.c_str(),
           static_cast<char*>(nullptr), environment.data());
    _exit(127);
  }
  close(answer[1]);
  char text[64];
  size_t size = helper > 0 ? ReadAll(answer[0], text, sizeof text) : 0;
  close(answer[0]);
  if (helper > 0) WaitFor(helper);
  while (size > 0 && text[size - 1] == '\n') --size;
  return std::string(text, size);
}

}  // namespace pymemrun
