#include "tracer/gauge/fault_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pymemrun {
namespace {

// A perf ring: the page with its head, and one page of data.
constexpr size_t kRingPages = 2;

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// A counter of the page faults of this thread and those that it starts. The
// count is read from the ring's head, which each fault advances by a bare
// header, see perf_event_open(2).
int OpenOne(int cpu, bool user_only) {
  perf_event_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = 1;
  attr.sample_type = 0;  // each fault writes a bare header: kHeadStep
  attr.inherit = 1;
  attr.inherit_thread = 1;  // threads, not forked children
  attr.exclude_kernel = user_only;
  attr.exclude_hv = user_only;
  // These events are never polled; wake as seldom as possible.
  attr.watermark = 1;
  attr.wakeup_watermark = 1u << 30;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

// Maps the counter of one CPU. Read-only: then the kernel overwrites the data
// page for ever instead of stopping when it is full.
bool MapOne(int cpu, FaultCounters* counters, const char** what) {
  *what = "perf_event_open";
  const int fd = OpenOne(cpu, counters->user_only);
  if (fd < 0) return false;
  *what = "mapping a ring";
  const size_t bytes = kRingPages * PageBytes();
  void* map = mmap(reinterpret_cast<void*>(counters->end), bytes, PROT_READ,
                   MAP_SHARED | MAP_FIXED, fd, 0);
  const int error = errno;
  close(fd);
  errno = error;
  if (map == MAP_FAILED) return false;
  counters->heads[counters->count] = reinterpret_cast<const volatile uint64_t*>(
      static_cast<const char*>(map) +
      offsetof(perf_event_mmap_page, data_head));
  counters->cpus[counters->count++] = static_cast<uint16_t>(cpu);
  counters->end += bytes;
  return true;
}

// All rings are in one reserved range, so that AreCounters() is two
// comparisons.
bool MapAll(int cpus, FaultCounters* counters, const char** what) {
  const size_t bytes = static_cast<size_t>(cpus) * kRingPages * PageBytes();
  *what = "address space";
  void* space = mmap(nullptr, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return false;
  counters->begin = counters->end = reinterpret_cast<uintptr_t>(space);
  bool mapped = true;
  for (int cpu = 0; mapped && cpu < cpus; ++cpu) {
    mapped = MapOne(cpu, counters, what) || errno == ENODEV;  // it is offline
  }
  const int error = errno;
  const uintptr_t unused = counters->end;
  munmap(reinterpret_cast<void*>(unused), counters->begin + bytes - unused);
  errno = error;
  return mapped && counters->count > 0;
}

// Whether counters are allowed at all. Sets whether they count only the faults
// of user code.
bool Probe(FaultCounters* counters) {
  int probe = OpenOne(-1, false);
  if (probe < 0 && (errno == EACCES || errno == EPERM)) {
    counters->user_only = true;
    probe = OpenOne(-1, true);
  }
  if (probe >= 0) close(probe);
  return probe >= 0;
}

// The advice for the reason that a user can remove.
const char* WayOut(bool probed, int error) {
  if (error != EACCES && error != EPERM) return "";
  return probed ? "; a larger kernel.perf_event_mlock_kb enables faults"
                : "; kernel.perf_event_paranoid <= 2 (in a container: a "
                  "seccomp profile with perf_event_open) enables faults";
}

bool Covers(const FaultCounters& counters, int cpu) {
  for (uint32_t i = 0; i < counters.count; ++i) {
    if (counters.cpus[i] == cpu) return true;
  }
  return false;
}

uint64_t Sum(const FaultCounters& counters) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < counters.count; ++i) sum += *counters.heads[i];
  return sum;
}

}  // namespace

bool OpenFaultCounters(FaultCounters* counters, char* reason, size_t size) {
  *counters = FaultCounters{};
  const int cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
  if (cpus > static_cast<int>(FaultCounters::kMost)) {
    snprintf(reason, size,
             "page-fault counters: %d CPUs, at most %u are supported", cpus,
             FaultCounters::kMost);
    return false;
  }
  const char* what = "perf_event_open";
  const bool probed = Probe(counters);
  if (probed && MapAll(cpus, counters, &what)) return true;
  const int error = errno;
  CloseFaultCounters(counters);
  snprintf(reason, size, "page-fault counters: %s: %s%s", what, strerror(error),
           WayOut(probed, error));
  return false;
}

// Takes a page fault and looks whether a counter has moved.
bool FaultCountersWork(const FaultCounters& counters, char* reason,
                       size_t size) {
  const size_t page = PageBytes();
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return true;  // not known to be so
  const uint64_t before = Sum(counters);
  *static_cast<volatile char*>(memory) = 1;
  const bool moved = Sum(counters) != before;
  const int cpu = sched_getcpu();
  munmap(memory, page);
  if (moved) return true;
  if (cpu >= 0 && !Covers(counters, cpu)) {
    snprintf(reason, size,
             "CPU %d has no page-fault counter: it was offline at the start",
             cpu);
  } else {
    snprintf(reason, size, "the page-fault counters have stopped");
  }
  return false;
}

void CloseFaultCounters(FaultCounters* counters) {
  if (counters->end != counters->begin) {
    munmap(reinterpret_cast<void*>(counters->begin),
           counters->end - counters->begin);
  }
  *counters = FaultCounters{};
}

}  // namespace pymemrun
