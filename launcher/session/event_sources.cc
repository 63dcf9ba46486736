#include "launcher/session/event_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/session/session.h"

namespace pymemrun {
namespace {

// Whether the kernel says which of a process's pages are there. Sandboxes may
// hide or refuse pagemap, so one entry of this process is read. It has 8 bytes
// for each page of the address space (proc_pid_pagemap(5)).
bool MayScanPages() {
  uint64_t entry = 0;
  const off_t at = static_cast<off_t>(reinterpret_cast<uintptr_t>(&entry) /
                                      getpagesize() * sizeof entry);
  const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const bool may =
      fd >= 0 && pread(fd, &entry, sizeof entry, at) == sizeof entry;
  if (fd >= 0) close(fd);
  return may;
}

}  // namespace

// Faults if the options and the kernel allow them, else a scan, unless only
// faults were asked for. A notice is only for who asked for pages: by default
// less is recorded in silence.
OpenedPages OpenPageSource(const Options& options) {
  const PageSource source = options.page_source;
  OpenedPages opened;
  std::string refused;
  if (source != PageSource::kScan) {
    const char* why = nullptr;
    const PageCounters* const counters =
        Session::OpenPages(options.page_period, &why);
    if (counters != nullptr) {
      opened.fds.assign(counters->fds, counters->fds + counters->count);
      opened.samplers = counters->samplers;
      opened.user_only = counters->user_only;
      return opened;
    }
    refused = why;
  }
  opened.by_scan = source != PageSource::kFaults && MayScanPages();
  const bool asked = options.trace_given || source != PageSource::kAuto;
  if (opened.by_scan) {
    if (!refused.empty()) {
      refused +=
          "; pages are scanned, and charged to the code that allocated them";
    }
  } else if (source != PageSource::kFaults) {
    refused += refused.empty() ? "" : "; ";
    refused += "/proc/self/pagemap cannot be read";
  }
  if (asked) opened.notice = refused;
  return opened;
}

namespace {

// Each CPU needs a descriptor and a buffer.
constexpr long kMostCpus = 256;

// An event that counts nothing, and has records of what its threads do on one
// CPU. Switches are recorded whatever an ordinary user may count. Bound to one
// CPU, because the kernel maps no buffer of an inherited event that follows its
// threads (kernel/events/core.c, perf_mmap()).
int OpenOne(int cpu) {
  perf_event_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.sample_id_all = 1;
  attr.context_switch = 1;
  attr.task = 1;  // begins and ends of threads
  attr.inherit = 1;
  attr.inherit_thread = 1;  // threads, not forked children
  attr.remove_on_exec = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  // The collector reads by itself; these events are not polled.
  attr.watermark = 1;
  attr.wakeup_watermark = 1u << 30;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

// inherit_thread and remove_on_exec came with Linux 5.13; older kernels refuse
// bits that they do not know.
const char* WayOut(int error) {
  if (error == EACCES || error == EPERM) {
    return "; it needs kernel.perf_event_paranoid <= 2 and, in a container, a "
           "seccomp profile that allows it";
  }
  return error == EINVAL || error == E2BIG ? "; it needs Linux 5.13" : "";
}

// Empty, or why there are none. CPUs that are offline have none.
std::string OpenAll(std::vector<int>* fds) {
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus > kMostCpus) {
    return "context switches: " + std::to_string(cpus) + " CPUs, at most " +
           std::to_string(kMostCpus) + " are supported";
  }
  int error = ENODEV;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int fd = OpenOne(cpu);
    if (fd >= 0) {
      fds->push_back(fd);
    } else if (errno != ENODEV) {  // it is offline
      error = errno;
      for (const int opened : *fds) close(opened);
      fds->clear();
      break;
    }
  }
  if (!fds->empty()) return {};
  return std::string("context switches: perf_event_open: ") + strerror(error) +
         WayOut(error);
}

}  // namespace

OpenedStates OpenStateSource(const Options& options) {
  OpenedStates opened;
  opened.any = options.traces.has(Trace::kStates);
  if (!opened.any) return opened;
  if (options.state_source == StateSource::kSchedstat) {
    opened.reason = "--state-source schedstat";
    return opened;
  }
  opened.reason = OpenAll(&opened.fds);
  if (opened.fds.empty()) {
    opened.notice =
        opened.reason + "; schedstat gives sums, not what threads wait for";
  }
  return opened;
}

}  // namespace pymemrun
