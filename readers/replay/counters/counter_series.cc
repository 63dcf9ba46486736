#include "readers/replay/counters/counter_series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pymemrun {

void CounterSeries::Add(uint64_t time_us, double value) {
  if (!std::isfinite(value)) return;
  const CounterPoint point = {
      points_.empty() ? time_us : std::max(time_us, points_.back().time_us),
      value};
  sank_ |= !points_.empty() && value < points_.back().value;
  if (points_.empty() || value < least_.value) least_ = point;
  if (points_.empty() || value > most_.value) most_ = point;
  points_.push_back(point);
}

void CounterSeries::EndAt(uint64_t time_us) {
  if (points_.empty() || points_.front().time_us > time_us) return;
  Keep([time_us](uint64_t at) { return at <= time_us; });
}

void CounterSeries::KeepBetween(uint64_t from_us, uint64_t to_us) {
  Keep([=](uint64_t at) { return at >= from_us && at <= to_us; });
}

template <typename Wanted>
void CounterSeries::Keep(Wanted wanted) {
  std::vector<CounterPoint> all;
  all.swap(points_);
  sank_ = false;
  for (const CounterPoint& point : all) {
    if (wanted(point.time_us)) Add(point.time_us, point.value);
  }
}

const CounterPoint& CounterSeries::Before(uint64_t time_us) const {
  const auto after = std::upper_bound(
      points_.begin(), points_.end(), time_us,
      [](uint64_t at, const CounterPoint& p) { return at < p.time_us; });
  return after == points_.begin() ? points_.front() : *(after - 1);
}

bool CounterSeries::OnlyGrows() const {
  if (sank_ || points_.size() < 3) return false;
  const uint64_t middle_us =
      first().time_us + (last().time_us - first().time_us) / 2;
  const auto middle = std::find_if(
      points_.begin(), points_.end(),
      [middle_us](const CounterPoint& p) { return p.time_us >= middle_us; });
  return first().value < middle->value && middle->value < last().value;
}

std::vector<double> CounterSeries::Curve(size_t columns,
                                         uint64_t end_us) const {
  if (empty() || columns == 0) return std::vector<double>(columns);
  const double start = first().value;
  std::vector<double> curve =
      Resampled(points_, first().time_us, end_us, columns, start);
  if (grows_only()) {
    std::adjacent_difference(curve.begin(), curve.end(), curve.begin());
    curve[0] -= start;
  }
  // The curve's lowest line is 0.
  const double least = *std::min_element(curve.begin(), curve.end());
  if (least < 0) {
    for (double& value : curve) value -= least;
  }
  return curve;
}

}  // namespace pymemrun
