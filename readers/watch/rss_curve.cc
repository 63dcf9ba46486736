#include "readers/watch/rss_curve.h"

#include <algorithm>

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
  std::vector<double> values(count);
  if (highest_.empty()) return values;
  const double steps = std::max(
      static_cast<double>(end_us) / static_cast<double>(step_us_), 1e-9);
  double last = 0;
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    const double until = steps * static_cast<double>(i + 1) / count;
    double most = 0;
    for (; next < highest_.size() &&
           (static_cast<double>(next) < until || i + 1 == count);
         ++next) {
      if (highest_[next] == 0) continue;
      last = static_cast<double>(highest_[next]);
      most = std::max(most, last);
    }
    values[i] = most > 0 ? most : last;
  }
  return values;
}

}  // namespace pymemrun
