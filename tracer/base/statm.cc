#include "tracer/base/statm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace pymemrun {
namespace {

std::atomic<int> g_statm_fd{-1};

constexpr char kStatm[] = "/proc/self/statm";

// Raises the soft limit of descriptors to the hard one for its lifetime. The
// descriptor is wanted beyond the soft limit, or the program has used up all
// below.
class RaisedLimit {
 public:
  RaisedLimit() {
    if (getrlimit(RLIMIT_NOFILE, &limit_) != 0) return;
    const rlimit raised = {limit_.rlim_max, limit_.rlim_max};
    raised_ = limit_.rlim_cur < limit_.rlim_max &&
              setrlimit(RLIMIT_NOFILE, &raised) == 0;
  }
  ~RaisedLimit() {
    if (raised_) setrlimit(RLIMIT_NOFILE, &limit_);
  }
  RaisedLimit(const RaisedLimit&) = delete;
  RaisedLimit& operator=(const RaisedLimit&) = delete;

  // Limit of descriptors at the moment.
  int most() const {
    const rlim_t most = raised_ ? limit_.rlim_max : limit_.rlim_cur;
    return most < INT_MAX ? static_cast<int>(most) : INT_MAX;
  }

 private:
  rlimit limit_ = {INT_MAX, INT_MAX};
  bool raised_ = false;
};

// Copies `fd` to a number close below `wanted` and above `fd`, and closes `fd`.
// Returns `fd` itself if there is no such number.
int MoveUp(int fd, int wanted) {
  for (; wanted > fd; wanted = wanted > 64 ? wanted / 2 : wanted - 1) {
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, wanted);
    if (moved < 0) continue;
    syscall(SYS_close, fd);
    return moved;
  }
  return fd;
}

int OpenStatm() {
  const RaisedLimit raised;
  const int fd = open(kStatm, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const int last = raised.most() - 1;
  return MoveUp(fd, last < Statm::kDescriptor ? last : Statm::kDescriptor);
}

// Parses a number, and moves `*text` behind it.
uint64_t TakeDecimal(const char** text) {
  uint64_t value = 0;
  for (; **text >= '0' && **text <= '9'; ++*text) {
    value = value * 10 + static_cast<uint64_t>(**text - '0');
  }
  return value;
}

// RSS in pages from a line of statm, "SIZE RESIDENT ..." (proc(5)). 0 for other
// lines: the descriptor may belong to another file of the program by now.
uint32_t ParseStatm(const char* line) {
  const uint64_t size = TakeDecimal(&line);
  if (*line++ != ' ') return 0;
  const uint64_t resident = TakeDecimal(&line);
  if (*line != ' ' || resident > size) return 0;
  return static_cast<uint32_t>(resident);
}

uint32_t ReadFrom(int fd) {
  char text[128];
  const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
  if (n <= 0) return 0;
  text[n] = '\0';
  return ParseStatm(text);
}

}  // namespace

bool Statm::Open() {
  const int fd = OpenStatm();
  g_statm_fd.store(fd, std::memory_order_relaxed);
  return fd >= 0;
}

uint32_t Statm::Read() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const int fd = g_statm_fd.load(std::memory_order_relaxed);
    if (fd >= 0) {
      const uint32_t pages = ReadFrom(fd);
      if (pages != 0) return pages;
    }
    // The program closed the descriptor in a way that is not interposed.
    if (!Open()) return 0;
  }
  errno = EIO;
  return 0;
}

uint32_t Statm::ReadAnew() {
  const int fd = open(kStatm, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const uint32_t pages = ReadFrom(fd);
  close(fd);
  return pages;
}

// VmHWM is in kB, see proc(5).
uint64_t Statm::ReadHwmPages() {
  char text[4096];
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  const char* line = strstr(text, "\nVmHWM:");
  if (line == nullptr) return 0;
  line += strlen("\nVmHWM:");
  while (*line == ' ' || *line == '\t') ++line;
  return TakeDecimal(&line) * 1024 /
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

int Statm::descriptor() { return g_statm_fd.load(std::memory_order_relaxed); }

void Statm::DescriptorClosed() {
  g_statm_fd.store(-1, std::memory_order_relaxed);
}

void Statm::MoveAway() {
  const int saved_errno = errno;
  const RaisedLimit raised;
  const int fd = descriptor();
  g_statm_fd.store(fcntl(fd, F_DUPFD_CLOEXEC, fd + 1),
                   std::memory_order_relaxed);
  syscall(SYS_close, fd);
  errno = saved_errno;
}

void Statm::CloseInChild() {
  if (descriptor() >= 0) syscall(SYS_close, descriptor());
  DescriptorClosed();
}

}  // namespace pymemrun
