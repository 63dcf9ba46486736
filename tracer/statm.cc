#include "tracer/statm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace pymemrun {
namespace {

std::atomic<int> g_statm_fd{-1};

constexpr char kStatm[] = "/proc/self/statm";

// For a program that has used up its descriptors: for a moment its limit is
// what it could raise it to itself.
int OpenBeyondLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_cur == limit.rlim_max) {
    return -1;
  }
  const rlimit raised = {limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) != 0) return -1;
  const int fd = open(kStatm, O_RDONLY | O_CLOEXEC);
  setrlimit(RLIMIT_NOFILE, &limit);
  return fd;
}

int OpenStatm() {
  int low = open(kStatm, O_RDONLY | O_CLOEXEC);
  if (low < 0 && errno == EMFILE) low = OpenBeyondLimit();
  if (low < 0) return -1;
  // Out of the way of the program, which sees the numbers it would see without
  // us; but within its limit.
  rlimit limit;
  int high = 1000;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= 1000) {
    high = static_cast<int>(limit.rlim_cur) - 1;
  }
  for (; high > low; high = high > 64 ? high / 2 : high - 1) {
    const int fd = fcntl(low, F_DUPFD_CLOEXEC, high);
    if (fd >= 0) {
      close(low);
      return fd;
    }
  }
  return low;
}

// The number at *text, which moves behind it.
uint64_t TakeDecimal(const char** text) {
  uint64_t value = 0;
  for (; **text >= '0' && **text <= '9'; ++*text) {
    value = value * 10 + static_cast<uint64_t>(**text - '0');
  }
  return value;
}

// RSS in pages of a line of statm, "SIZE RESIDENT ..."; 0 when it is none.
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
    // The program closed it by a way that is not interposed: open another.
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

}  // namespace pymemrun
