// Reads a run's counters.
#ifndef PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_REPLAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/series/series.h"

namespace pymemrun {

using CounterPoint = TimedValue;

// From when to when a run has readings, whatever part of it is asked for.
struct KnownTimes {
  uint64_t first_us = UINT64_MAX, last_us = 0;

  bool any() const { return first_us <= last_us; }
  void Add(uint64_t from_us, uint64_t to_us) {
    first_us = std::min(first_us, from_us);
    last_us = std::max(last_us, to_us);
  }
};

// One counter over time. Not thread safe.
class CounterSeries {
 public:
  enum class Look {
    kBytes,
    kSeconds,  // that were used up: it only grows
    kTotal,    // of what happened: it only grows
    kNumber,
  };

  CounterSeries(std::string name, Look look)
      : name_(std::move(name)), look_(look) {}

  // NaN is left out. Times may descend a little, as two threads add values.
  void Add(uint64_t time_us, double value);

  // Drops later values, unless all are later.
  void EndAt(uint64_t time_us);
  // Leaves out what is not of this time, all of it too.
  void KeepBetween(uint64_t from_us, uint64_t to_us);

  const std::string& name() const { return name_; }
  Look look() const { return look_; }
  bool grows_only() const {
    return look_ == Look::kSeconds || look_ == Look::kTotal;
  }
  const std::vector<CounterPoint>& points() const { return points_; }
  bool empty() const { return points_.empty(); }
  // The times of all points, also outside the range.
  const KnownTimes& known() const { return known_; }
  // REQUIRES: not empty().
  const CounterPoint& first() const { return points_.front(); }
  const CounterPoint& last() const { return points_.back(); }
  const CounterPoint& least() const { return least_; }
  const CounterPoint& most() const { return most_; }
  // The last one up to that time; or the first.
  const CounterPoint& Before(uint64_t time_us) const;
  // By how much it has grown.
  double Growth() const { return last().value - first().value; }
  // Whether it has never sunk, and has grown in both halves of its time.
  bool OnlyGrows() const;

  // `columns` values of a curve up to `end_us`: the highest value of each part
  // of the time, or the last one before it. A counter that only grows has its
  // growth instead.
  std::vector<double> Curve(size_t columns, uint64_t end_us) const;

 private:
  template <typename Wanted>
  void Keep(Wanted wanted);

  std::string name_;
  Look look_;
  bool sank_ = false;
  std::vector<CounterPoint> points_;
  CounterPoint least_, most_;
  KnownTimes known_;
};

// Keeps every value: memory is linear in the file. Not thread safe.
class CounterReplay final : public HeapReplay {
 public:
  // Counters of the process, in the order of printing.
  enum Kind {
    kRss,
    kPss,
    kHeap,  // live bytes, as far as heap events tell
    kUserCpu,
    kSystemCpu,
    kMinorFaults,
    kMajorFaults,
    kDescriptors,
    kKinds,
  };

  CounterReplay();

  // To be called first, if at all: only what is of this time is kept.
  void SetRange(uint64_t from_us, uint64_t to_us) {
    from_us_ = from_us;
    to_us_ = to_us;
  }
  void OnProcess(const ProcessSample& sample) override;
  void OnGcRun(const GcRun& run) override;
  void OnCounter(const CounterValue& value) override;
  void OnCounterPlan(const CounterPlan& plan) override;
  void OnFooter(const Footer& footer) override;
  void Finish() override;

  // The run was made with counters.
  const CounterSeries& Of(Kind kind) const { return series_[kind]; }
  // Those of the process, then the user's in the order of their first values.
  const std::vector<CounterSeries>& series() const { return series_; }
  size_t user_series() const { return series_.size() - kKinds; }
  // Whether runs of the cycle collector were recorded, and those, in the order
  // of the file.
  bool knows_gc_runs() const { return gc_runs_known_; }
  const std::vector<GcRun>& gc_runs() const { return gc_runs_; }
  // The times of all of them, also outside the range.
  const KnownTimes& known_gc_runs() const { return known_gc_runs_; }
  KnownTimes KnownValues() const;
  bool of_part() const { return from_us_ != 0 || to_us_ != kEnd; }
  // Between two samples: as asked for, and on average; 0: there are not two.
  uint64_t every_us() const { return every_us_; }
  uint64_t TrueEveryUs() const;
  // Values of the user's counters that did not fit.
  uint64_t refused() const { return refused_; }
  uint64_t hwm_bytes() const { return hwm_bytes_; }
  // The last moment at which all counters of the process are known.
  uint64_t LastOfAllUs() const;
  // From the start of the range, or of the run, to the end.
  uint64_t begin_us() const { return from_us_; }
  uint64_t end_us() const { return std::min(last_us(), to_us_); }
  uint64_t long_us() const { return end_us() - std::min(end_us(), from_us_); }

 private:
  std::vector<CounterSeries> series_;
  absl::flat_hash_map<std::string, size_t> by_name_;  // the user's
  std::vector<GcRun> gc_runs_;
  KnownTimes known_gc_runs_;
  bool gc_runs_known_ = false;
  uint64_t from_us_ = 0, to_us_ = kEnd;
  uint64_t every_us_ = 0, refused_ = 0, hwm_bytes_ = 0;
  uint64_t samples_ = 0, first_sample_us_ = 0, last_sample_us_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_REPLAY_H_
