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

// The variance of a gain from samples: of the bytes allocated and freed between
// two moments. If one replaces the other, as in a full cache, chance alone
// makes some line of many rise at some moment. So the freed part is weighted:
// three errors of this are four and a half of the sum.
double VarianceOfGain(double came, double went);

// What HeapHistoryReplay records, and when. Times are those of the run.
struct HeapHistoryOptions {
  GroupBy by = GroupBy::kLine;
  uint64_t interval_us = 0;            // 0: to be chosen
  std::vector<uint64_t> moments = {};  // ascending; replaces interval_us
  uint64_t from_us = 0;
  uint64_t to_us = HeapReplay::kEnd;
  // Only these threads have places; the bytes of others are one row.
  std::string threads;
  bool with_errors = false, with_gain_variance = false;  // for sampled runs
};

// Records the live bytes of each place at some moments, and at the end of the
// range or of the run. The moments are given, or follow at an interval;
// otherwise there are 60 to 120 of them. Not thread safe.
class HeapHistoryReplay final : public HeapReplay {
 public:
  // The most moments at a given interval.
  static constexpr size_t kMaxMoments = 100000;

  explicit HeapHistoryReplay(const HeapHistoryOptions& options);
  void Finish() override;
  // Whether moments were left out: there were more than kMaxMoments, or too
  // many sources to read all of them for each.
  bool too_many() const { return too_many_; }
  ThreadFilter& threads() { return threads_; }
  // Live bytes over time; places and "others" add up to it. Tracing's own
  // memory and the mappings of C code are separate parts. REQUIRES: Finish()
  // was called.
  Curves Result(const SeriesChoice& choice = {}) const;

 private:
  // The most values kept. Places that appear after that are counted with the
  // others.
  static constexpr size_t kMaxValues = size_t{1} << 25;
  // Sources read at all moments together: some ten seconds.
  static constexpr uint64_t kMaxLooks = uint64_t{1} << 32;
  // Without an interval, every other moment is dropped at this number.
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
  // Variances of what is alive at the last moment, by the step that allocated
  // it.
  PlaceValues kept_variances_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_HISTORY_H_
