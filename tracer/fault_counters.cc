#include "tracer/fault_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pymemrun {
namespace {

int OpenOne(int cpu, bool user_only) {
  perf_event_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = 1;
  attr.sample_type = 0;  // each fault writes a bare 8-byte header: head += 8
  attr.inherit = 1;
  attr.inherit_thread = 1;  // threads, not forked children
  attr.exclude_kernel = user_only;
  attr.exclude_hv = user_only;
  // Nobody ever polls; wake as seldom as can be.
  attr.watermark = 1;
  attr.wakeup_watermark = 1u << 30;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

// Maps one CPU's counter read-only, so that the kernel overwrites the data page
// for ever instead of stopping when it is full.
int MapOne(int cpu, FaultCounters* counters) {
  const int fd = OpenOne(cpu, counters->user_only);
  if (fd < 0) return errno;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* map = mmap(nullptr, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  if (map == MAP_FAILED) return error;
  counters->heads[counters->count++] =
      reinterpret_cast<const volatile uint64_t*>(
          static_cast<const char*>(map) +
          offsetof(perf_event_mmap_page, data_head));
  counters->mapped_bytes += 2 * page;
  return 0;
}

}  // namespace

int OpenFaultCounters(FaultCounters* counters) {
  *counters = FaultCounters{};
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus > 64) return E2BIG;
  int probe = OpenOne(0, false);
  if (probe < 0 && (errno == EACCES || errno == EPERM)) {
    counters->user_only = true;
    probe = OpenOne(0, true);
  }
  if (probe < 0) return errno;
  close(probe);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int error = MapOne(cpu, counters);
    if (error == ENODEV) continue;  // an offline CPU
    if (error != 0) {
      CloseFaultCounters(counters);
      return error;
    }
  }
  return counters->count > 0 ? 0 : ENODEV;
}

void CloseFaultCounters(FaultCounters* counters) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (uint32_t i = 0; i < counters->count; ++i) {
    const uintptr_t head = reinterpret_cast<uintptr_t>(counters->heads[i]);
    munmap(reinterpret_cast<void*>(head & ~(page - 1)), 2 * page);
  }
  *counters = FaultCounters{};
}

}  // namespace pymemrun
