#include "tracer/base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tracer/base/next_function.h"

namespace pymemrun {
namespace {

// Reads at most size - 1 bytes of a small file. The text is empty if that
// fails.
void ReadSmallFile(const char* path, char* buffer, size_t size) {
  buffer[0] = '\0';
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t n = read(fd, buffer, size - 1);
  buffer[n > 0 ? n : 0] = '\0';
  close(fd);
}

}  // namespace

// By the vDSO (vdso(7)): a preloaded library such as libfaketime may replace
// clock_gettime of libc.
void UseKernelsClock() {
#ifdef __aarch64__
  void* const kernels = FindNext("__kernel_clock_gettime");
#else
  void* const kernels = FindNext("__vdso_clock_gettime");
#endif
  if (kernels != nullptr) {
    g_read_clock = reinterpret_cast<ClockFunction*>(kernels);
  }
}

// Takes the pair whose reading was disturbed least.
ClockPair BothClocks(bool is_tsc) {
  ClockPair best = {};
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const uint64_t before = TimeStamp(is_tsc);
    const uint64_t ns = MonotonicNs();
    const uint64_t width = TimeStamp(is_tsc) - before;
    if (width < best_width) {
      best_width = width;
      best = {before + width / 2, ns};
    }
  }
  return best;
}

// The kernel uses the TSC as its clock source only after it has checked that it
// is stable.
bool TscIsInvariant() {
  char text[4096];
  ReadSmallFile(
      "/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
      sizeof(text));
#if defined(__aarch64__)
  return strncmp(text, "arch_sys_counter", 16) == 0;
#else
  if (strncmp(text, "tsc", 3) == 0) return true;
  // A guest's kvm-clock or hyperv clock is based on the TSC. These two flags
  // say that the TSC neither changes its rate nor stops.
  ReadSmallFile("/proc/cpuinfo", text, sizeof(text));
  return strstr(text, " constant_tsc") != nullptr &&
         strstr(text, " nonstop_tsc") != nullptr;
#endif
}

}  // namespace pymemrun
