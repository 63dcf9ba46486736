// The part that knows the current RSS. RSS grows by page faults and shrinks by
// unmapping; where no sign of either has come since the last read, it has not
// changed, and no system call is needed to know that.
//
//   faults  one page-fault counter per CPU, inherited by every thread, whose
//           heads are mapped: a load each. Plus the break, interposed unmapping
//           calls, and a read after at most 50 us.
//   hints   the same without the counters, where perf is refused.
//   rusage  getrusage(RUSAGE_THREAD) at each event instead of the counters.
//   statm   statm read at each event: the reference.
//
// A source that fails later gives way to a lesser one, and that is told.
//
// Hook side: GIL held, no allocation.
#ifndef PYMEMRUN_TRACER_GAUGE_RSS_GAUGE_H_
#define PYMEMRUN_TRACER_GAUGE_RSS_GAUGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/gauge/fault_counters.h"
#include "tracer/gauge/peak_watch.h"
#include "tracer/gauge/statm_step.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Time until the next read of RSS without a sign. RSS is unsettled if more
// changes without a sign are likely. Then it is read after 1/32 of the longest
// pause, and after twice as long each time, until the longest pause is reached.
class ReadPace {
 public:
  // Returns the pause until the next read; `longest` is the longest allowed.
  // `unsettled`: what the last read showed.
  uint64_t Next(uint64_t longest, bool unsettled) {
    pause_ = unsettled ? longest / 32 + 1 : 2 * pause_;
    if (pause_ == 0 || pause_ >= longest) {
      pause_ = 0;
      return longest;
    }
    return pause_;
  }

 private:
  uint64_t pause_ = 0;  // 0: settled
};

// A change of RSS without a sign is found after this much traced running time.
inline constexpr uint64_t kStalenessNs = 50'000;

// Findings of an update besides dRSS.
struct GaugeFindings {
  PeakFinding peak;
  bool source_changed;     // RssGauge::source() and reason() are new
  GaugeSource old_source;  // source before
};

class RssGauge {
 public:
  // Opens `wanted` or, for kAuto, the best source that works; reason() then
  // says why not a better one. Call it before the first thread. Returns false
  // if `wanted` is not available; reason() then says why.
  bool Open(HotState& hot, GaugeSource wanted);
  // Current source; kAuto while RSS cannot be read.
  GaugeSource source() const { return source_; }
  // A line that says why there is no better source; empty if it is the best or
  // was asked for. Valid until the source changes.
  const char* reason() const { return reason_; }
  // Step of statm (statm_step.h); 0: not known.
  uint32_t statm_step_pages() const { return step_pages_; }

  // The slow half of the check at each event: a sign moved. Returns dRSS in
  // pages since the last value and updates it. `number` is the number of the
  // event.
  int32_t Update(HotState& hot, uint64_t stamp, uint64_t number,
                 GaugeFindings* found);

  // Makes the next update read RSS.
  void Invalidate(HotState& hot);

  // RSS in pages as statm had it at the last read.
  uint32_t figure_pages() const { return figure_pages_; }
  // Highest value so far.
  uint64_t max_rss_pages() const { return max_rss_pages_; }

  // Whether these bytes, which the program is about to unmap or map over,
  // contain counters. If so, call CountersGo() first. Any thread.
  bool AreCounters(const void* start, size_t bytes) const;
  void CountersGo(HotState& hot);

 private:
  // Signs that moved since the last check.
  struct Moved {
    uint64_t faults;
    bool any;
  };
  uint64_t TakeHeads(HotState& hot) const;
  Moved TakeSigns(HotState& hot) const;
  void UseHeads(HotState& hot) const;
  void ChangeSource(GaugeSource source, GaugeFindings* found);
  void LoseCounters(HotState& hot, GaugeFindings* found);
  void CheckCounters(HotState& hot, uint64_t stamp, bool grew_without_sign,
                     GaugeFindings* found);
  void CheckReadable(bool readable, GaugeFindings* found);
  uint32_t Read(HotState& hot, GaugeFindings* found);
  bool MayHavePeaked(const Moved& moved) const;
  bool IsUnsettled(const Moved& moved, uint64_t own_faults,
                   int32_t change) const;
  uint64_t NextDeadline(const HotState& hot, uint64_t stamp, bool unsettled);
  bool RusageSaysTheSame(HotState& hot, uint64_t stamp, bool signs_moved);

  GaugeSource source_ = GaugeSource::kStatm;
  GaugeSource lost_source_ = GaugeSource::kAuto;  // while RSS cannot be read
  char reason_[sizeof(StartFacts::rss_source_reason)] = {};
  FaultCounters counters_ = {};
  std::atomic<bool> counters_unmapped_{false};
  uint64_t check_stamp_ = 0;  // earliest next test of the counters
  PeakWatch peaks_;
  ReadPace pace_;
  RssEstimate estimate_;
  uint32_t step_pages_ = 0;
  uint32_t figure_pages_ = 0;
  uint64_t max_rss_pages_ = 0;
  uint64_t read_deadline_ = 0;  // for rusage: read statm at the latest then
  // Variable of libc that says whether there was only one thread; null: not
  // known.
  const char* single_threaded_ = nullptr;
  void* no_break_ = nullptr;  // used if the break of libc is not known
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_RSS_GAUGE_H_
