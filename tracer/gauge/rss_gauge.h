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

// How soon RSS is read again though no sign moves. While RSS is unsettled -
// more is likely to come that leaves no sign - it is read after a thirty-second
// of the longest pause, then after twice as long each time, until the pause is
// the longest again.
class ReadPace {
 public:
  // The pause until the next read, given the longest allowed; `unsettled` tells
  // what the read just made has shown.
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

// A change of RSS that leaves no sign is found after so much traced running.
inline constexpr uint64_t kStalenessNs = 50'000;

// What an update found out besides dRSS.
struct GaugeFindings {
  PeakFinding peak;
  bool source_changed;     // RssGauge::source() and reason() are new...
  GaugeSource old_source;  // ...instead of this one
};

class RssGauge {
 public:
  // Opens `wanted` or, for kAuto, the best that works; reason() then says why
  // not a better one. Before the first thread. Returns false when `wanted`
  // itself cannot be had; then reason() says why.
  bool Open(HotState& hot, GaugeSource wanted);
  // The source in use; kAuto while RSS cannot be read at all.
  GaugeSource source() const { return source_; }
  // Why not a better one; empty when it is the best or what was asked for. One
  // line, which stays until the source changes.
  const char* reason() const { return reason_; }
  // The grain of statm's figure (see statm_step.h); 0 when not known.
  uint32_t statm_step_pages() const { return step_pages_; }

  // The slow half of the check at each event: a sign moved. Returns dRSS in
  // pages since the gauge's last value and updates it. `number` is the
  // event's.
  int32_t Update(HotState& hot, uint64_t stamp, uint64_t number,
                 GaugeFindings* found);

  // Forgets what it knows, so that the next update reads.
  void Invalidate(HotState& hot);

  // statm's figure in pages when the gauge last read it.
  uint32_t figure_pages() const { return figure_pages_; }
  // Highest value so far.
  uint64_t max_rss_pages() const { return max_rss_pages_; }

  // Whether these bytes, which the program is about to unmap or to map over,
  // hold counters; then CountersGo() must be called before. Any thread.
  bool AreCounters(const void* start, size_t bytes) const;
  void CountersGo(HotState& hot);

 private:
  // Which signs have moved since they were last taken in.
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
  uint64_t check_stamp_ = 0;  // the counters are not looked into before
  PeakWatch peaks_;
  ReadPace pace_;
  RssEstimate estimate_;
  uint32_t step_pages_ = 0;
  uint32_t figure_pages_ = 0;
  uint64_t max_rss_pages_ = 0;
  uint64_t read_deadline_ = 0;  // rusage source: statm is read anyway after it
  // Whether a second thread has been made, as libc says; null: not known.
  const char* single_threaded_ = nullptr;
  void* no_break_ = nullptr;  // stands for libc's break where that is not known
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_RSS_GAUGE_H_
