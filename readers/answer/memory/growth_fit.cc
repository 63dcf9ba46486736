#include "readers/answer/memory/growth_fit.h"

#include <algorithm>
#include <cmath>

namespace pymemrun {
namespace {

constexpr size_t kRiseParts = 4;
// The least share of steady growth that each part must have.
constexpr double kLeastOfEven = 0.4;
// Two steps in each part.
constexpr size_t kLeastValues = 2 * kRiseParts + 1;

// The values from one on, without what is released later.
struct Rise {
  const std::vector<double>& kept;
  size_t from;
  double variance;  // of the gain; 0: exact

  size_t Steps() const { return kept.size() - 1 - from; }
  double Gain() const { return kept.back() - kept[from]; }
};

// Samples of steady growth are as even as this in 99 of 100 cases: a chi-square
// test over four parts. Each part's gain has a quarter of the variance.
bool IsEven(const Rise& rise) {
  constexpr double kChiSquare = 11.34;  // 1 % of 3 degrees of freedom
  const double even = rise.Gain() / kRiseParts;
  double least = even, squares = 0;
  for (size_t part = 0; part < kRiseParts; ++part) {
    const size_t begin = rise.from + rise.Steps() * part / kRiseParts;
    const size_t end = rise.from + rise.Steps() * (part + 1) / kRiseParts;
    const double part_gain = rise.kept[end] - rise.kept[begin];
    least = std::min(least, part_gain);
    squares += std::pow(part_gain - even, 2);
  }
  return least >= kLeastOfEven * even ||
         squares <= kChiSquare * rise.variance / kRiseParts;
}

// With n samples of steady growth, none is in the last part g of the time with
// probability (1 - g)^n.
bool RisesToTheEnd(const Rise& rise) {
  constexpr double kLeastOdds = 0.05, kMostGap = 1.0 / 6;
  if (rise.variance == 0) return true;  // IsEven() covers this case
  const auto last =
      std::lower_bound(rise.kept.begin(), rise.kept.end(), rise.kept.back());
  const auto gap = static_cast<double>(rise.kept.end() - 1 - last) /
                   static_cast<double>(rise.Steps());
  const double samples = rise.Gain() * rise.Gain() / rise.variance;
  return gap <= std::max(kMostGap, 1 - std::pow(kLeastOdds, 1 / samples));
}

bool IsGrowth(const Rise& rise) {
  constexpr double kLeastErrors = 3;
  return rise.Gain() > kLeastErrors * std::sqrt(rise.variance) &&
         IsEven(rise) && RisesToTheEnd(rise);
}

// Least squares over a sum of samples: the variance of the fitted gain is 6/5
// of that of the difference between the ends.
GrowthFit FitLine(const Rise& rise, uint64_t step_us) {
  const std::vector<double>& kept = rise.kept;
  const size_t from = rise.from;
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
  // Times are centred, so the slope needs no intercept.
  const double slope = with_time / of_time;
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i) - middle;
    squares += std::pow(kept[from + i] - mean - slope * at, 2);
  }
  GrowthFit fit;
  fit.gained_bytes = slope * (n - 1);
  fit.span_us = (count - 1) * step_us;
  fit.error_bytes = std::sqrt(squares / (n - 2) / of_time * (n - 1) * (n - 1) +
                              1.2 * rise.variance);
  return fit;
}

}  // namespace

std::optional<GrowthFit> FitGrowth(const std::vector<double>& bytes,
                                   const std::vector<double>& gain_variance,
                                   uint64_t step_us, size_t count) {
  // Each value minus what was released after it.
  std::vector<double> kept = bytes;
  kept.resize(count);
  for (size_t i = count; i-- > 1;) kept[i - 1] = std::min(kept[i - 1], kept[i]);
  // First the second half. A program that starts slowly may grow only in the
  // last quarter.
  for (const size_t divisor : {2, 4}) {
    const size_t from = count - 1 - (count - 1) / divisor;
    if (count < from + kLeastValues) break;
    const double before = *std::max_element(
        bytes.begin(), bytes.begin() + std::min(bytes.size(), from + 1));
    const Rise rise = {kept, from,
                       from < gain_variance.size() ? gain_variance[from] : 0};
    if (kept.back() <= before || !IsGrowth(rise)) continue;
    return FitLine(rise, step_us);
  }
  return std::nullopt;
}

}  // namespace pymemrun
