#include "readers/answer/growth_fit.h"

#include <algorithm>
#include <cmath>

namespace pymemrun {
namespace {

constexpr size_t kParts = 4;
// Each part has at least this share of what steady growth gives it.
constexpr double kLeastOfEven = 0.4;
constexpr size_t kLeastValues = 2 * kParts + 1;

// From value `from` on.
bool RisesThroughout(const std::vector<double>& kept, size_t from) {
  const size_t steps = kept.size() - 1 - from;
  const double gain = kept.back() - kept[from];
  for (size_t part = 0; part < kParts; ++part) {
    const double rise = kept[from + steps * (part + 1) / kParts] -
                        kept[from + steps * part / kParts];
    if (rise <= 0 || rise < kLeastOfEven * gain / kParts) return false;
  }
  return true;
}

GrowthFit FitLine(const std::vector<double>& kept, size_t from,
                  uint64_t step_us) {
  const size_t count = kept.size() - from;
  const auto n = static_cast<double>(count);
  double mean = 0;
  for (size_t i = 0; i < count; ++i) mean += kept[from + i] / n;
  const double middle = (n - 1) / 2;
  double with_time = 0, of_time = 0;
  for (size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i) - middle;
    with_time += at * (kept[from + i] - mean);
    of_time += at * at;
  }
  const double slope = with_time / of_time;
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i) - middle;
    squares += std::pow(kept[from + i] - mean - slope * at, 2);
  }
  GrowthFit fit;
  fit.gained_bytes = slope * (n - 1);
  fit.span_us = (count - 1) * step_us;
  fit.error_bytes = std::sqrt(squares / (n - 2) / of_time) * (n - 1);
  return fit;
}

}  // namespace

std::optional<GrowthFit> FitGrowth(const std::vector<double>& bytes,
                                   uint64_t step_us, size_t count) {
  // Each value less what was released after it.
  std::vector<double> kept = bytes;
  kept.resize(count);
  for (size_t i = count; i-- > 1;) kept[i - 1] = std::min(kept[i - 1], kept[i]);
  for (const size_t divisor : {2, 4}) {
    const size_t from = count - 1 - (count - 1) / divisor;
    if (count < from + kLeastValues) break;
    const double before = *std::max_element(
        bytes.begin(), bytes.begin() + std::min(bytes.size(), from + 1));
    if (kept.back() <= before || !RisesThroughout(kept, from)) continue;
    return FitLine(kept, from, step_us);
  }
  return std::nullopt;
}

}  // namespace pymemrun
