#include "tracer/rss_gauge.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tracer/clock.h"
#include "tracer/fault_counters.h"
#include "tracer/statm.h"

namespace pymemrun {
namespace {

// A rise between two events is worth a record from 64 KiB on: a page more or
// less is what reading at slightly different times makes.
constexpr uint64_t kPeakPages = 16;
// VmHWM is asked from the kernel at most this often when only the slow way
// (status as text, about 10 us) tells it.
constexpr uint64_t kHwmStepsOfStaleness = 4;

const volatile uint64_t kNoHead = 0;
void* g_no_brk = nullptr;
// glibc's word for "no second thread has been made". Reached by dlsym: a direct
// reference would copy it into the executable and export it from there.
const char kManyThreads = 0;
const char* g_single_threaded = &kManyThreads;

struct GaugeState {
  GaugeSource source = GaugeSource::kStatm;
  FaultCounters counters = {};
  uint64_t max_rss_pages = 0;
  uint64_t reported_hwm_pages = 0;
  uint64_t hwm_checked_number = 0;  // VmHWM was known not to have risen here
  uint64_t hwm_next_stamp = 0;
  // getrusage's maximum while it may date from before our exec; 0: it does not.
  uint64_t inherited_maxrss_pages = 0;
  uint64_t faults_seen = 0;      // rusage source
  uint64_t rusage_deadline = 0;  // rusage source: read anyway after this
};
constinit GaugeState g_gauge;

uint64_t ThreadFaults() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_minflt) +
         static_cast<uint64_t>(usage.ru_majflt);
}

uint64_t MaxRssPages() {
  // Of the process for either; RUSAGE_SELF would add up the times of all
  // threads.
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024 /
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void UseHeads(HotState& hot) {
  const FaultCounters& c = g_gauge.counters;
  hot.heads[0] = hot.heads[1] = &kNoHead;
  for (uint32_t i = 0; i < c.count; ++i) hot.heads[i] = c.heads[i];
  hot.head_count = c.count;
}

bool OpenFaults(char* reason, size_t size) {
  const int error = OpenFaultCounters(&g_gauge.counters);
  if (error == 0) {
    if (g_gauge.counters.user_only) {
      snprintf(reason, size,
               "faults the kernel takes for the program (reads into fresh "
               "memory) show within 50 us; kernel.perf_event_paranoid <= 1 "
               "counts them too");
    }
    return true;
  }
  const char* way_out = error == EACCES || error == EPERM
                            ? "; kernel.perf_event_paranoid <= 2 (in a "
                              "container: a seccomp profile with "
                              "perf_event_open) gives faults"
                            : "";
  snprintf(reason, size, "perf page-fault counters: %s%s", strerror(error),
           way_out);
  return false;
}

// The time stamp from which statm is read whatever the signs say.
uint64_t NextDeadline(const HotState& hot, uint64_t stamp, bool signs_moved) {
  if (g_gauge.source == GaugeSource::kStatm ||
      g_gauge.source == GaugeSource::kRusage) {
    return 0;  // look at each event
  }
  // Another thread's fault is counted before its page is: look again at the
  // next event while there are other threads.
  return signs_moved && *g_single_threaded == 0 ? 0 : stamp + hot.staleness;
}

// The rusage source: whether this thread took no fault since the last event.
bool RusageSaysTheSame(const HotState& hot, uint64_t stamp, bool signs_moved) {
  const uint64_t faults = ThreadFaults();
  const bool same = faults == g_gauge.faults_seen && !signs_moved &&
                    stamp < g_gauge.rusage_deadline;
  g_gauge.faults_seen = faults;
  if (!same) g_gauge.rusage_deadline = stamp + hot.staleness;
  return same;
}

void CountRead(ControlPage* page) {
  page->rss_reads.store(page->rss_reads.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
}

// Looks for a peak that no event saw. Returns what to report. Where every fault
// is counted, a peak needs one since the last look.
PeakFinding CheckPeak(uint64_t stamp, uint64_t number, bool faults_moved) {
  PeakFinding finding = {};
  if (!faults_moved && g_gauge.source == GaugeSource::kFaults &&
      !g_gauge.counters.user_only && g_gauge.inherited_maxrss_pages == 0) {
    return finding;
  }
  uint64_t hwm = MaxRssPages();
  const bool inherited = hwm <= g_gauge.inherited_maxrss_pages;
  if (inherited) {
    if (stamp < g_gauge.hwm_next_stamp) return finding;
    hwm = Statm::ReadHwmPages();
    g_gauge.hwm_next_stamp = stamp + kHwmStepsOfStaleness * Hot().staleness;
  }
  if (hwm > g_gauge.max_rss_pages + kPeakPages &&
      hwm > g_gauge.reported_hwm_pages) {
    g_gauge.reported_hwm_pages = hwm;
    // With a source that sees every fault, nothing rose up to the event before.
    const bool exact =
        g_gauge.source != GaugeSource::kHints && !inherited && number > 0;
    finding = {true, hwm, exact ? number - 1 : g_gauge.hwm_checked_number};
  }
  g_gauge.hwm_checked_number = number;
  return finding;
}

}  // namespace

bool RssGauge::Open(HotState& hot, GaugeSource wanted, char* reason,
                    size_t size) {
  reason[0] = '\0';
  if (!Statm::Open()) {
    snprintf(reason, size, "/proc/self/statm: %s", strerror(errno));
    return false;
  }
  g_gauge.source = wanted;
  if (wanted == GaugeSource::kFaults || wanted == GaugeSource::kAuto) {
    const bool open = OpenFaults(reason, size);
    if (!open && wanted == GaugeSource::kFaults) return false;
    g_gauge.source = open ? GaugeSource::kFaults : GaugeSource::kHints;
  }
  if (g_gauge.source == GaugeSource::kHints && reason[0] == '\0') {
    snprintf(reason, size, "RSS is right within 50 us of traced running");
  }
  UseHeads(hot);
  // Where libc keeps the break; read as a word, it costs a load.
  void* const* curbrk =
      static_cast<void* const*>(dlsym(RTLD_DEFAULT, "__curbrk"));
  hot.brk_word = curbrk != nullptr ? curbrk : &g_no_brk;
  const void* single = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
  if (single != nullptr) g_single_threaded = static_cast<const char*>(single);
  // The maximum that getrusage knows may be that of the process we were before
  // exec, until ours exceeds it; the text form of VmHWM never is.
  const uint64_t maxrss = MaxRssPages();
  g_gauge.inherited_maxrss_pages =
      maxrss > Statm::ReadHwmPages() + 64 ? maxrss : 0;
  return true;
}

GaugeSource RssGauge::source() { return g_gauge.source; }
uint64_t RssGauge::max_rss_pages() { return g_gauge.max_rss_pages; }

int32_t RssGauge::Update(HotState& hot, uint64_t stamp, uint64_t number,
                         PeakFinding* peak) {
  const int saved_errno = errno;
  // Signs first, value second: what moves in between is seen at the next event.
  const uint64_t heads = SumOfHeads(hot);
  const uint32_t unmaps = hot.unmaps.load(std::memory_order_acquire);
  void* const brk_now = *hot.brk_word;
  const bool signs_moved = heads != hot.heads_sum ||
                           unmaps != hot.unmaps_seen || brk_now != hot.brk_seen;
  if (g_gauge.source == GaugeSource::kRusage &&
      RusageSaysTheSame(hot, stamp, signs_moved)) {
    return 0;
  }
  const bool faults_moved = heads != hot.heads_sum;
  hot.heads_sum = heads;
  hot.unmaps_seen = unmaps;
  hot.brk_seen = brk_now;
  uint32_t pages = Statm::Read();
  CountRead(hot.page);
  if (pages == 0) pages = hot.rss_pages;  // /proc is gone: the last known value
  const int32_t change = static_cast<int32_t>(pages - hot.rss_pages);
  hot.rss_pages = pages;
  if (pages > g_gauge.max_rss_pages) g_gauge.max_rss_pages = pages;
  hot.deadline = NextDeadline(hot, stamp, signs_moved);
  *peak = CheckPeak(stamp, number, faults_moved);
  errno = saved_errno;
  return change;
}

void RssGauge::Close() { CloseFaultCounters(&g_gauge.counters); }

}  // namespace pymemrun
