// One counter over time.
#ifndef PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_SERIES_H_
#define PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/series/series.h"

namespace pymemrun {

using CounterPoint = TimedValue;

// Not thread safe.
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

  // Not a number is left out. Times may fall a little: two threads' may.
  void Add(uint64_t time_us, double value);

  // Leaves out what came later, unless all did.
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

  // What a curve of so many columns shows up to `end_us`: the highest value of
  // each, or the last one before. Of what only grows: by how much it grew.
  std::vector<double> Curve(size_t columns, uint64_t end_us) const;

 private:
  template <typename Wanted>
  void Keep(Wanted wanted);

  std::string name_;
  Look look_;
  bool sank_ = false;
  std::vector<CounterPoint> points_;
  CounterPoint least_, most_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_SERIES_H_
