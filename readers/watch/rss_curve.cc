#include "readers/watch/rss_curve.h"

#include <algorithm>

#include "readers/series/series.h"

namespace pymemrun {

void RssCurve::Add(uint64_t time_us, uint64_t rss_bytes) {
  if (rss_bytes == 0) return;
  while (time_us / step_us_ >= kMostSteps) {
    for (size_t i = 0; i < highest_.size(); i += 2) {
      const uint64_t next = i + 1 < highest_.size() ? highest_[i + 1] : 0;
      highest_[i / 2] = std::max(highest_[i], next);
    }
    highest_.resize((highest_.size() + 1) / 2);
    step_us_ *= 2;
  }
  const size_t step = time_us / step_us_;
  if (highest_.size() <= step) highest_.resize(step + 1);
  highest_[step] = std::max(highest_[step], rss_bytes);
}

std::vector<double> RssCurve::Values(uint64_t end_us, size_t count) const {
  std::vector<TimedValue> readings;
  for (size_t i = 0; i < highest_.size(); ++i) {
    if (highest_[i] == 0) continue;
    readings.push_back({i * step_us_, static_cast<double>(highest_[i])});
  }
  return Resampled(readings, 0, end_us, count, 0);
}

}  // namespace pymemrun
