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
#ifndef PYMEMRUN_TRACER_RSS_GAUGE_H_
#define PYMEMRUN_TRACER_RSS_GAUGE_H_

#include <cstddef>
#include <cstdint>

#include "tracer/hot_state.h"
#include "tracer/peak_watch.h"
#include "tracer/ring_layout.h"

namespace pymemrun {

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
  static bool Open(HotState& hot, GaugeSource wanted);
  // The source in use; kAuto while RSS cannot be read at all.
  static GaugeSource source();
  // Why not a better one; empty when it is the best or what was asked for. One
  // line, which stays until the source changes.
  static const char* reason();
  // The grain of statm's figure (see statm_step.h); 0 when not known.
  static uint32_t statm_step_pages();

  // The slow half of the check at each event: a sign moved. Returns dRSS in
  // pages since the gauge's last value and updates it. `number` is the
  // event's.
  static int32_t Update(HotState& hot, uint64_t stamp, uint64_t number,
                        GaugeFindings* found);

  // Forgets what it knows, so that the next update reads.
  static void Invalidate(HotState& hot);

  // statm's figure in pages when the gauge last read it.
  static uint32_t figure_pages();
  // Highest value so far.
  static uint64_t max_rss_pages();

  // Whether these bytes, which the program is about to unmap or to map over,
  // hold counters; then CountersGo() must be called before. Any thread.
  static bool AreCounters(const void* start, size_t bytes);
  static void CountersGo(HotState& hot);
};

inline uint64_t SumOfHeads(const HotState& hot) {
  uint64_t sum = *hot.heads[0] + *hot.heads[1];
  for (uint32_t i = 2; __builtin_expect(i < hot.head_count, 0); ++i) {
    sum += *hot.heads[i];
  }
  return sum;
}

// Up to so many counters are read at each event. The heads lie at one place of
// a page each, and so in one set of the first-level cache, which has no more
// ways.
inline constexpr uint32_t kMostHeadsRead = 8;

// With more: whether a thread has come to another CPU since the signs were
// taken in, or the counter of this one has moved, or that of another, in turn
// by time.
inline uint64_t SomeHeadMoved(const HotState& hot, uint64_t stamp) {
  constexpr int kTurnBits = 12;  // 4,096 units of time, a few microseconds
  const uint64_t turn = stamp & ((1 << kTurnBits) - 1);
  const uint64_t other = turn * hot.head_count >> kTurnBits;
  const uint32_t cpu = *reinterpret_cast<const volatile uint32_t*>(
      static_cast<const char*>(__builtin_thread_pointer()) + hot.cpu_offset);
  return (*hot.own_head ^ hot.own_head_seen) |
         (*hot.heads[other] ^ hot.heads_seen[other]) | (cpu ^ hot.seen_cpu);
}

// Not 0 when a counter has moved.
inline uint64_t HeadsMoved(const HotState& hot, uint64_t stamp) {
  uint64_t sum = *hot.heads[0] + *hot.heads[1];
  if (__builtin_expect(hot.head_count > 2, 0)) {
    if (hot.cpu_offset != 0) return SomeHeadMoved(hot, stamp);
    sum = SumOfHeads(hot);
  }
  return sum ^ hot.heads_sum;
}

// The fast half: whether any sign moved. About a nanosecond: every value is in
// this thread's cache but the counters' heads, which change only with a fault.
inline bool RssMayHaveMoved(const HotState& hot, uint64_t stamp) {
  const uint64_t moved =
      HeadsMoved(hot, stamp) |
      static_cast<uint64_t>(hot.unmaps.load(std::memory_order_relaxed) ^
                            hot.unmaps_seen) |
      (reinterpret_cast<uintptr_t>(*hot.brk_word) ^
       reinterpret_cast<uintptr_t>(hot.brk_seen));
  return (moved != 0) | (stamp >= hot.deadline);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RSS_GAUGE_H_
