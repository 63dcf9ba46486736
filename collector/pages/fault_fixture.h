// For tests: this thread's page faults, made and counted.
#ifndef PYMEMRUN_COLLECTOR_PAGES_FAULT_FIXTURE_H_
#define PYMEMRUN_COLLECTOR_PAGES_FAULT_FIXTURE_H_

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace pymemrun {

inline const uint32_t kFixturePage =
    static_cast<uint32_t>(sysconf(_SC_PAGESIZE));

// Fresh memory whose pages come one by one. AddressSanitizer's notes about it
// are read here: later that would bring pages of zeros between the test's own.
inline char* MapFreshPages(size_t pages) {
  char* memory = static_cast<char*>(mmap(nullptr, pages * kFixturePage,
                                         PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(memory, pages * kFixturePage, MADV_NOHUGEPAGE);
#ifdef __SANITIZE_ADDRESS__
  __asan_region_is_poisoned(memory, pages * kFixturePage);
#endif
  return memory;
}

inline int CpusOnline() {
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

// A perf event that counts the calling thread's page faults on a CPU, and has
// each as a sample for whoever maps it, as the launcher opens them. Below 0
// where perf is refused, with errno.
inline int OpenFaults(int cpu) {
  perf_event_attr attr = {};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = 1;
  attr.sample_type =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.exclude_kernel = attr.exclude_hv = geteuid() != 0;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

// One for each CPU, from descriptor `first_fd` on. False where perf is refused,
// with errno.
inline bool OpenFaultsOfCpus(int first_fd) {
  for (int cpu = 0; cpu < CpusOnline(); ++cpu) {
    const int fd = OpenFaults(cpu);
    if (fd < 0 || dup2(fd, first_fd + cpu) < 0) return false;
    close(fd);
  }
  return true;
}

// Whether those from `first_fd` on count: looks at a fault that it takes.
inline bool FaultsOfCpusCount(int first_fd) {
  const auto sum = [first_fd] {
    uint64_t sum = 0;
    for (int cpu = 0; cpu < CpusOnline(); ++cpu) {
      uint64_t count = 0;
      if (read(first_fd + cpu, &count, sizeof(count)) > 0) sum += count;
    }
    return sum;
  };
  char* page = MapFreshPages(1);
  const uint64_t before = sum();
  *static_cast<volatile char*>(page) = 1;
  const bool counted = sum() != before;
  munmap(page, kFixturePage);
  return counted;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_FAULT_FIXTURE_H_
