#include "tracer/gauge/rss_gauge.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/rseq.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tracer/base/statm.h"
#include "tracer/gauge/rss_signs.h"

namespace pymemrun {
namespace {

// The counters are tested at most once per this many staleness times, because a
// test takes a page fault.
constexpr uint64_t kStalenessesBetweenChecks = 200;
// A peak that only /proc/self/status shows is read at most once per this many
// staleness times.
constexpr uint64_t kStalenessesBetweenTexts = 4;

// How it works: reading statm at each event would cost 1 us. RSS changes only
// by page faults, unmapping or a moved break. Each of these leaves a sign that
// user space can read: the kernel advances the head of a perf ring with each
// fault, interposed functions count unmapping calls, and libc stores the break.
// While no sign moves and the deadline has not passed, the last RSS is still
// right.
const volatile uint64_t kNoHead = 0;
// Page faults of this thread at its last look.
constinit thread_local uint64_t t_faults_seen = 0;

// Step of statm, a property of the kernel, so forked children inherit it; 0:
// unknown.
constinit uint32_t g_step_pages = 0;

// Counts of the calling thread and the process from one system call.
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

// Offset of the CPU number of a thread (rseq) from its thread pointer; 0 if the
// kernel or libc does not provide it.
ptrdiff_t CpuOffset() {
  const void* size = dlsym(RTLD_DEFAULT, "__rseq_size");
  const void* offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
  if (size == nullptr || offset == nullptr) return 0;
  if (*static_cast<const unsigned*>(size) == 0) return 0;
  return *static_cast<const ptrdiff_t*>(offset) +
         static_cast<ptrdiff_t>(offsetof(rseq, cpu_id));
}

// Points all heads to a word that never moves, so the hot path needs no test.
void UseNoHeads(HotState& hot) {
  hot.cpu_offset = 0;
  hot.head_count = 0;
  for (auto& head : hot.heads) head = &kNoHead;
}

}  // namespace

// The part of TakeSigns() for many CPUs: only the counter of the current CPU is
// compared at each event.
inline uint64_t RssGauge::TakeHeads(HotState& hot) const {
  const FaultCounters& c = counters_;
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

inline RssGauge::Moved RssGauge::TakeSigns(HotState& hot) const {
  const uint64_t heads = hot.cpu_offset != 0 ? TakeHeads(hot) : SumOfHeads(hot);
  const uint32_t unmaps = hot.unmaps.load(std::memory_order_relaxed);
  void* const brk_now = *hot.brk_word;
  // The signs are read before statm. So a change after that moves a sign that
  // the next event sees; the other order could miss it.
  std::atomic_thread_fence(std::memory_order_acquire);
  const Moved moved = {(heads - hot.heads_sum) / kHeadStep,
                       heads != hot.heads_sum || unmaps != hot.unmaps_seen ||
                           brk_now != hot.brk_seen};
  hot.heads_sum = heads;
  hot.unmaps_seen = unmaps;
  hot.brk_seen = brk_now;
  return moved;
}

// With few CPUs the hot path reads all heads, otherwise the one of the current
// CPU.
void RssGauge::UseHeads(HotState& hot) const {
  const FaultCounters& c = counters_;
  hot.heads[0] = hot.heads[1] = hot.own_head = &kNoHead;
  for (uint32_t i = 0; i < c.count; ++i) hot.heads[i] = c.heads[i];
  hot.head_count = c.count;
  if (c.count > kMostHeadsRead) hot.cpu_offset = CpuOffset();
}

inline void RssGauge::ChangeSource(GaugeSource source, GaugeFindings* found) {
  if (!found->source_changed) found->old_source = source_;
  found->source_changed = true;
  source_ = source;
}

inline void RssGauge::LoseCounters(HotState& hot, GaugeFindings* found) {
  UseNoHeads(hot);
  hot.heads_sum = 0;
  ChangeSource(GaugeSource::kHints, found);
}

// Finds out whether the counters still work: the program may have unmapped
// them, or RSS grew without a sign.
inline void RssGauge::CheckCounters(HotState& hot, uint64_t stamp,
                                    bool grew_without_sign,
                                    GaugeFindings* found) {
  if (counters_unmapped_.load(std::memory_order_acquire)) {
    snprintf(reason_, sizeof(reason_),
             "the program has unmapped the page-fault counters");
    return LoseCounters(hot, found);
  }
  if (!grew_without_sign || stamp < check_stamp_) return;
  check_stamp_ = stamp + kStalenessesBetweenChecks * hot.staleness;
  if (!FaultCountersWork(counters_, reason_, sizeof(reason_))) {
    LoseCounters(hot, found);
  }
}

// Notes that RSS cannot be read any more, or can be read again.
inline void RssGauge::CheckReadable(bool readable, GaugeFindings* found) {
  const bool was_readable = source_ != GaugeSource::kAuto;
  if (readable == was_readable) return;
  if (readable) {
    snprintf(reason_, sizeof(reason_), "/proc/self/statm can be read again");
    return ChangeSource(lost_source_, found);
  }
  snprintf(reason_, sizeof(reason_), "/proc/self/statm: %s", strerror(errno));
  lost_source_ = source_;
  ChangeSource(GaugeSource::kAuto, found);
}

// Reads statm. Returns the new value for hot.rss_pages.
inline uint32_t RssGauge::Read(HotState& hot, GaugeFindings* found) {
  const uint32_t figure = Statm::Read();
  ControlPage* page = hot.page;
  page->rss_reads.store(page->rss_reads.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  CheckReadable(figure != 0, found);
  // Without /proc the last known value is the best there is.
  if (figure == 0) return hot.rss_pages | kRssEstimated;
  figure_pages_ = figure;
  if (figure > max_rss_pages_) max_rss_pages_ = figure;
  if (!estimate_.coarse() || source_ != GaugeSource::kFaults) {
    return figure;
  }
  const uint32_t refined = estimate_.Refine(figure, hot.heads_sum / kHeadStep);
  return refined == figure ? figure : refined | kRssEstimated;
}

// Whether there may have been a peak since the last look, so that a system call
// is worth its cost. Where every fault is counted, a peak takes a fault.
inline bool RssGauge::MayHavePeaked(const Moved& moved) const {
  return moved.faults > 0 || source_ != GaugeSource::kFaults ||
         counters_.user_only || peaks_.inherited();
}

// Whether RSS is about to change without another sign. A fault of another
// thread is counted before its page is. Without counters, growth comes in
// bursts.
inline bool RssGauge::IsUnsettled(const Moved& moved, uint64_t own_faults,
                                  int32_t change) const {
  if (source_ == GaugeSource::kHints) return change > 0;
  return moved.faults > own_faults &&
         (single_threaded_ == nullptr || *single_threaded_ == 0);
}

inline uint64_t RssGauge::NextDeadline(const HotState& hot, uint64_t stamp,
                                       bool unsettled) {
  if (source_ == GaugeSource::kStatm || source_ == GaugeSource::kRusage) {
    return 0;  // look at each event
  }
  return stamp + pace_.Next(hot.staleness, unsettled);
}

// The rusage source: whether this thread took no fault since the last event.
inline bool RssGauge::RusageSaysTheSame(HotState& hot, uint64_t stamp,
                                        bool signs_moved) {
  const uint64_t faults = GetUsage().thread_faults;
  const bool same =
      faults == t_faults_seen && !signs_moved && stamp < read_deadline_;
  t_faults_seen = faults;
  if (!same) read_deadline_ = stamp + hot.staleness;
  return same;
}

bool RssGauge::Open(HotState& hot, GaugeSource wanted) {
  char* const reason = reason_;
  constexpr size_t kSize = sizeof(reason_);
  if (!Statm::Open()) {
    snprintf(reason, kSize, "/proc/self/statm: %s", strerror(errno));
    return false;
  }
  if (g_step_pages == 0) g_step_pages = MeasureStatmStep(Statm::Read);
  step_pages_ = g_step_pages;
  source_ = wanted;
  if (wanted == GaugeSource::kFaults || wanted == GaugeSource::kAuto) {
    const bool open = OpenFaultCounters(&counters_, reason, kSize);
    if (!open && wanted == GaugeSource::kFaults) return false;
    source_ = open ? GaugeSource::kFaults : GaugeSource::kHints;
  }
  if (counters_.user_only) {
    snprintf(reason, kSize,
             "faults inside the kernel (read() into fresh memory) are seen "
             "within 50 us; with kernel.perf_event_paranoid <= 1 they are "
             "counted at once");
  } else if (wanted == GaugeSource::kHints) {
    snprintf(reason, kSize,
             "RSS may lag by up to 50 us of traced running time");
  }
  UseHeads(hot);
  estimate_.Start(step_pages_, counters_.count);
  // The variable in which libc keeps the break.
  void* const* curbrk =
      static_cast<void* const*>(dlsym(RTLD_DEFAULT, "__curbrk"));
  hot.brk_word = curbrk != nullptr ? curbrk : &no_break_;
  // By dlsym: a direct reference would make a copy of it in the executable.
  single_threaded_ =
      static_cast<const char*>(dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
  peaks_.Start(GetUsage().maxrss_pages, Statm::ReadHwmPages());
  return true;
}

// Called when a sign has moved or the deadline has passed. Returns the change
// of RSS in pages.
int32_t RssGauge::Update(HotState& hot, uint64_t stamp, uint64_t number,
                         GaugeFindings* found) {
  const int saved_errno = errno;
  // Signs first, value second: what moves in between is seen at the next event.
  const Moved moved = TakeSigns(hot);
  if (source_ == GaugeSource::kRusage &&
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
    found->peak = peaks_.Check(usage.maxrss_pages, max_rss_pages_,
                               source_ != GaugeSource::kHints, number, stamp,
                               kStalenessesBetweenTexts * hot.staleness);
  }
  if (source_ == GaugeSource::kFaults) {
    CheckCounters(hot, stamp, change > 0 && !moved.any, found);
  }
  hot.deadline =
      NextDeadline(hot, stamp, IsUnsettled(moved, own_faults, change));
  errno = saved_errno;
  return change;
}

void RssGauge::Invalidate(HotState& hot) {
  hot.deadline = 0;
  read_deadline_ = 0;
}

bool RssGauge::AreCounters(const void* start, size_t bytes) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(start);
  const FaultCounters& counters = counters_;
  return begin < counters.end && begin + bytes > counters.begin;
}

void RssGauge::CountersGo(HotState& hot) {
  UseNoHeads(hot);
  counters_unmapped_.store(true, std::memory_order_release);
}

}  // namespace pymemrun
