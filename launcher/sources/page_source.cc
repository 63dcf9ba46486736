#include "launcher/sources/page_source.h"

#include <fcntl.h>
#include <unistd.h>

#include "tracer/session/session.h"

namespace pymemrun {
namespace {

// Whether the kernel says which of a process's pages are there.
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
      refused += "; pages by scan: who allocated, not who touched";
    }
  } else if (source != PageSource::kFaults) {
    refused += refused.empty() ? "" : "; ";
    refused += "/proc/self/pagemap cannot be read";
  }
  if (asked) opened.notice = refused;
  return opened;
}

}  // namespace pymemrun
