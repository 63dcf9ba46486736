#include "tracer/rss_gauge.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/rseq.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>

#include "tracer/fault_counters.h"
#include "tracer/read_pace.h"
#include "tracer/statm.h"
#include "tracer/statm_step.h"

namespace pymemrun {
namespace {

// Whether the counters work is looked into at most this often, in times of the
// longest staleness: it takes a page fault.
constexpr uint64_t kStalenessesBetweenChecks = 200;
// A peak that only the text of /proc tells is looked for at most this often.
constexpr uint64_t kStalenessesBetweenTexts = 4;

const volatile uint64_t kNoHead = 0;
void* g_no_brk = nullptr;
// glibc's word for "no second thread has been made". Reached by dlsym: a direct
// reference would copy it into the executable and export it from there.
const char kManyThreads = 0;
const char* g_single_threaded = &kManyThreads;

struct GaugeState {
  GaugeSource source = GaugeSource::kStatm;
  GaugeSource lost_source = GaugeSource::kAuto;  // while RSS cannot be read
  char reason[sizeof(StartFacts::rss_source_reason)] = {};
  FaultCounters counters = {};
  std::atomic<bool> counters_unmapped{false};
  uint64_t check_stamp = 0;  // the counters are not looked into before
  PeakWatch peaks;
  ReadPace pace;
  RssEstimate estimate;
  uint32_t step_pages = 0;
  uint32_t figure_pages = 0;
  uint64_t max_rss_pages = 0;
  uint64_t read_deadline = 0;  // rusage source: statm is read anyway after this
};
constinit GaugeState g_gauge;

// The faults that this thread had taken when it last looked.
constinit thread_local uint64_t t_faults_seen = 0;

// What the kernel tells of the calling thread and the process in one call.
struct Usage {
  uint64_t thread_faults;
  uint64_t maxrss_pages;  // of the process; RUSAGE_SELF would add up the times
                          // of all threads
};

Usage GetUsage() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return {static_cast<uint64_t>(usage.ru_minflt) +
              static_cast<uint64_t>(usage.ru_majflt),
          static_cast<uint64_t>(usage.ru_maxrss) * 1024 /
              static_cast<uint64_t>(sysconf(_SC_PAGESIZE))};
}

// Which signs have moved since they were last taken in.
struct Moved {
  uint64_t faults;
  bool any;
};

// The same where a CPU's counter is watched more than the others.
uint64_t TakeHeads(HotState& hot) {
  const FaultCounters& c = g_gauge.counters;
  hot.seen_cpu = *reinterpret_cast<const volatile uint32_t*>(
      static_cast<const char*>(__builtin_thread_pointer()) + hot.cpu_offset);
  hot.own_head = &kNoHead;
  hot.own_head_seen = 0;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < hot.head_count; ++i) {
    sum += hot.heads_seen[i] = *hot.heads[i];
    if (c.cpus[i] != hot.seen_cpu) continue;
    hot.own_head = hot.heads[i];
    hot.own_head_seen = hot.heads_seen[i];
  }
  return sum;
}

Moved TakeSigns(HotState& hot) {
  const uint64_t heads = hot.cpu_offset != 0 ? TakeHeads(hot) : SumOfHeads(hot);
  const uint32_t unmaps = hot.unmaps.load(std::memory_order_acquire);
  void* const brk_now = *hot.brk_word;
  const Moved moved = {(heads - hot.heads_sum) / kHeadStep,
                       heads != hot.heads_sum || unmaps != hot.unmaps_seen ||
                           brk_now != hot.brk_seen};
  hot.heads_sum = heads;
  hot.unmaps_seen = unmaps;
  hot.brk_seen = brk_now;
  return moved;
}

// Where each thread finds the number of the CPU that it runs on, from its
// thread pointer; 0 where the kernel or libc does not tell it.
ptrdiff_t CpuOffset() {
  const void* size = dlsym(RTLD_DEFAULT, "__rseq_size");
  const void* offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
  if (size == nullptr || offset == nullptr) return 0;
  if (*static_cast<const unsigned*>(size) == 0) return 0;
  return *static_cast<const ptrdiff_t*>(offset) +
         static_cast<ptrdiff_t>(offsetof(rseq, cpu_id));
}

void UseHeads(HotState& hot) {
  const FaultCounters& c = g_gauge.counters;
  hot.heads[0] = hot.heads[1] = hot.own_head = &kNoHead;
  for (uint32_t i = 0; i < c.count; ++i) hot.heads[i] = c.heads[i];
  hot.head_count = c.count;
  if (c.count > kMostHeadsRead) hot.cpu_offset = CpuOffset();
}

void UseNoHeads(HotState& hot) {
  hot.cpu_offset = 0;
  hot.head_count = 0;
  for (auto& head : hot.heads) head = &kNoHead;
}

void ChangeSource(GaugeSource source, GaugeFindings* found) {
  if (!found->source_changed) found->old_source = g_gauge.source;
  found->source_changed = true;
  g_gauge.source = source;
}

void LoseCounters(HotState& hot, GaugeFindings* found) {
  UseNoHeads(hot);
  hot.heads_sum = 0;
  ChangeSource(GaugeSource::kHints, found);
}

// Looks into what may be wrong with the counters: the program has unmapped
// them, or RSS grew without their moving.
void CheckCounters(HotState& hot, uint64_t stamp, bool grew_without_sign,
                   GaugeFindings* found) {
  if (g_gauge.counters_unmapped.load(std::memory_order_acquire)) {
    snprintf(g_gauge.reason, sizeof(g_gauge.reason),
             "the program has unmapped the page-fault counters");
    return LoseCounters(hot, found);
  }
  if (!grew_without_sign || stamp < g_gauge.check_stamp) return;
  g_gauge.check_stamp = stamp + kStalenessesBetweenChecks * hot.staleness;
  if (!FaultCountersWork(g_gauge.counters, g_gauge.reason,
                         sizeof(g_gauge.reason))) {
    LoseCounters(hot, found);
  }
}

// RSS cannot be read any more, or can again.
void CheckReadable(bool readable, GaugeFindings* found) {
  const bool was_readable = g_gauge.source != GaugeSource::kAuto;
  if (readable == was_readable) return;
  if (readable) {
    snprintf(g_gauge.reason, sizeof(g_gauge.reason),
             "/proc/self/statm can be read again");
    return ChangeSource(g_gauge.lost_source, found);
  }
  snprintf(g_gauge.reason, sizeof(g_gauge.reason), "/proc/self/statm: %s",
           strerror(errno));
  g_gauge.lost_source = g_gauge.source;
  ChangeSource(GaugeSource::kAuto, found);
}

// Reads statm. Returns the new value of hot.rss_pages.
uint32_t Read(HotState& hot, GaugeFindings* found) {
  const uint32_t figure = Statm::Read();
  ControlPage* page = hot.page;
  page->rss_reads.store(page->rss_reads.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  CheckReadable(figure != 0, found);
  // Without /proc the last known value is as good as any.
  if (figure == 0) return hot.rss_pages | kRssEstimated;
  g_gauge.figure_pages = figure;
  if (figure > g_gauge.max_rss_pages) g_gauge.max_rss_pages = figure;
  if (!g_gauge.estimate.coarse() || g_gauge.source != GaugeSource::kFaults) {
    return figure;
  }
  const uint32_t refined =
      g_gauge.estimate.Refine(figure, hot.heads_sum / kHeadStep);
  return refined == figure ? figure : refined | kRssEstimated;
}

// Whether a peak may have come since the last look, so that it is worth a
// system call: where every fault is counted, it takes one.
bool MayHavePeaked(const Moved& moved) {
  return moved.faults > 0 || g_gauge.source != GaugeSource::kFaults ||
         g_gauge.counters.user_only || g_gauge.peaks.inherited();
}

// Whether RSS is about to change without a further sign: another thread's fault
// counts before its page does, and without counters growth comes in bursts.
bool IsUnsettled(const Moved& moved, uint64_t own_faults, int32_t change) {
  if (g_gauge.source == GaugeSource::kHints) return change > 0;
  return moved.faults > own_faults && *g_single_threaded == 0;
}

uint64_t NextDeadline(const HotState& hot, uint64_t stamp, bool unsettled) {
  if (g_gauge.source == GaugeSource::kStatm ||
      g_gauge.source == GaugeSource::kRusage) {
    return 0;  // look at each event
  }
  return stamp + g_gauge.pace.Next(hot.staleness, unsettled);
}

// The rusage source: whether this thread took no fault since the last event.
bool RusageSaysTheSame(HotState& hot, uint64_t stamp, bool signs_moved) {
  const uint64_t faults = GetUsage().thread_faults;
  const bool same =
      faults == t_faults_seen && !signs_moved && stamp < g_gauge.read_deadline;
  t_faults_seen = faults;
  if (!same) g_gauge.read_deadline = stamp + hot.staleness;
  return same;
}

}  // namespace

bool RssGauge::Open(HotState& hot, GaugeSource wanted) {
  char* const reason = g_gauge.reason;
  constexpr size_t kSize = sizeof(g_gauge.reason);
  if (!Statm::Open()) {
    snprintf(reason, kSize, "/proc/self/statm: %s", strerror(errno));
    return false;
  }
  g_gauge.step_pages = MeasureStatmStep(Statm::Read);
  g_gauge.source = wanted;
  if (wanted == GaugeSource::kFaults || wanted == GaugeSource::kAuto) {
    const bool open = OpenFaultCounters(&g_gauge.counters, reason, kSize);
    if (!open && wanted == GaugeSource::kFaults) return false;
    g_gauge.source = open ? GaugeSource::kFaults : GaugeSource::kHints;
  }
  if (g_gauge.counters.user_only) {
    snprintf(reason, kSize,
             "faults the kernel takes for the program (reads into fresh "
             "memory) show within 50 us; kernel.perf_event_paranoid <= 1 "
             "counts them too");
  } else if (wanted == GaugeSource::kHints) {
    snprintf(reason, kSize, "RSS is right within 50 us of traced running");
  }
  UseHeads(hot);
  g_gauge.estimate.Start(g_gauge.step_pages, g_gauge.counters.count);
  // Where libc keeps the break; read as a word, it costs a load.
  void* const* curbrk =
      static_cast<void* const*>(dlsym(RTLD_DEFAULT, "__curbrk"));
  hot.brk_word = curbrk != nullptr ? curbrk : &g_no_brk;
  const void* single = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
  if (single != nullptr) g_single_threaded = static_cast<const char*>(single);
  g_gauge.peaks.Start(GetUsage().maxrss_pages, Statm::ReadHwmPages());
  return true;
}

GaugeSource RssGauge::source() { return g_gauge.source; }
const char* RssGauge::reason() { return g_gauge.reason; }
uint32_t RssGauge::statm_step_pages() { return g_gauge.step_pages; }
uint32_t RssGauge::figure_pages() { return g_gauge.figure_pages; }
uint64_t RssGauge::max_rss_pages() { return g_gauge.max_rss_pages; }

int32_t RssGauge::Update(HotState& hot, uint64_t stamp, uint64_t number,
                         GaugeFindings* found) {
  const int saved_errno = errno;
  // Signs first, value second: what moves in between is seen at the next event.
  const Moved moved = TakeSigns(hot);
  if (g_gauge.source == GaugeSource::kRusage &&
      RusageSaysTheSame(hot, stamp, moved.any)) {
    errno = saved_errno;
    return 0;
  }
  const uint32_t pages = Read(hot, found);
  const int32_t change = RssPages(pages) - RssPages(hot.rss_pages);
  hot.rss_pages = pages;
  uint64_t own_faults = 0;
  if (MayHavePeaked(moved)) {
    const Usage usage = GetUsage();
    own_faults = usage.thread_faults - t_faults_seen;
    t_faults_seen = usage.thread_faults;
    found->peak =
        g_gauge.peaks.Check(usage.maxrss_pages, g_gauge.max_rss_pages,
                            g_gauge.source != GaugeSource::kHints, number,
                            stamp, kStalenessesBetweenTexts * hot.staleness);
  }
  if (g_gauge.source == GaugeSource::kFaults) {
    CheckCounters(hot, stamp, change > 0 && !moved.any, found);
  }
  hot.deadline =
      NextDeadline(hot, stamp, IsUnsettled(moved, own_faults, change));
  errno = saved_errno;
  return change;
}

void RssGauge::Invalidate(HotState& hot) {
  hot.deadline = 0;
  g_gauge.read_deadline = 0;
}

bool RssGauge::AreCounters(const void* start, size_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(start);
  const FaultCounters& counters = g_gauge.counters;
  return begin < counters.end && begin + bytes > counters.begin;
}

void RssGauge::CountersGo(HotState& hot) {
  UseNoHeads(hot);
  g_gauge.counters_unmapped.store(true, std::memory_order_release);
}

}  // namespace pymemrun
