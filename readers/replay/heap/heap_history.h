// Live bytes over time by place: `pymemreport history`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_HISTORY_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/places/thread_filter.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/series/series.h"

namespace pymemrun {

// Of samples of what came between two moments, and of what went. Where one
// takes the other's place, as in a full cache, chance makes a rise at some
// moment and line of many. That is why it counts for more: three errors of this
// are four and a half of the sum.
double VarianceOfGain(double came, double went);

struct HeapHistoryOptions {
  GroupBy by = GroupBy::kLine;
  uint64_t interval_us = 0;            // 0: to be chosen
  std::vector<uint64_t> moments = {};  // rising, from from_us on: these instead
  uint64_t from_us = 0;
  uint64_t to_us = HeapReplay::kEnd;
  // What other threads have is of other places.
  std::string threads;
  bool with_errors = false, with_gain_variance = false;  // of samples
};

// Takes the values at the moments given, or each interval from a moment on, and
// at the end of the range or the run. Without either, at 60 to 120 moments. Not
// thread safe.
class HeapHistoryReplay final : public HeapReplay {
 public:
  // Moments at a given interval.
  static constexpr size_t kMaxMoments = 100000;

  explicit HeapHistoryReplay(const HeapHistoryOptions& options);
  void Finish() override;
  // There were more moments than kMaxMoments, or fewer with so many sources
  // that each look at all of them takes long: the others were not taken.
  bool too_many() const { return too_many_; }
  ThreadFilter& threads() { return threads_; }
  // Live bytes; places and the others add up to them. What tracing itself has
  // and what C code has mapped are parts beside them, if any. REQUIRES:
  // Finish() was called.
  Curves Result(const SeriesChoice& choice = {}) const;

 private:
  // Values that are kept: places that come when there is no room are others.
  static constexpr size_t kMaxValues = size_t{1} << 25;
  // Some ten seconds.
  static constexpr uint64_t kMaxLooks = uint64_t{1} << 32;
  // Without an interval: when there are so many moments every other goes.
  static constexpr size_t kMostChosen = 120;

  uint64_t OnStop(uint64_t stop_us) override;
  void TakeValues(uint64_t time_us);
  void TakeKept();
  void Halve();
  std::vector<double> ErrorsOf(size_t number) const;
  std::vector<double> GainVarianceOf(size_t number) const;

  const uint64_t from_us_, to_us_;
  const std::vector<uint64_t> moments_;
  const bool choose_, with_errors_, with_gain_variance_;
  ThreadFilter threads_;
  uint64_t interval_us_;
  bool too_many_ = false;
  uint64_t looked_at_ = 0;  // sources, at all moments
  PlaceTable places_;
  OriginNumbers numbers_;
  Curves curves_;  // without the places' series
  PlaceValues bytes_;
  PlaceValues variances_;  // or none
  // Of what is alive at the last moment, by the step in which it came.
  PlaceValues kept_variances_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_HISTORY_H_
