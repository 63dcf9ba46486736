#include "readers/replay/heap/heap_weights.h"

#include <algorithm>
#include <cmath>

namespace pymemrun {

// Solves (1 - p)^n = 1/20 for n. The result for bytes is that of the largest
// block of each class.
HeapUnseen UnseenAt(const HeapRates& rates) {
  const double log_chance = std::log(1.0 / 20);
  const auto mean_bytes = static_cast<double>(rates.mean_bytes());
  // For n blocks of s bytes (1 - p)^n is exp(-n s / mean), for any s.
  if (mean_bytes > 0)
    return {-log_chance * mean_bytes, -log_chance * mean_bytes};
  HeapUnseen unseen;
  for (const HeapClass& of : rates.classes()) {
    const double count = log_chance / std::log1p(-of.probability());
    if (!(count >= 1)) continue;  // a single block is seen in 19 of 20 cases
    const auto most_bytes = static_cast<double>(of.below_bytes() - 1);
    unseen.TakeMost({count * most_bytes, count});
  }
  return unseen;
}

// Rates may change at any time. Each block keeps only their number, in 17 bits.
uint32_t HeapWeights::NumberOf(const HeapRates& rates) {
  if (rates.mean_bytes() == 0 && rates.classes().empty()) return 0;
  HeapRates key = rates;
  key.clear_time_us();
  key.clear_adapted();
  const auto last = static_cast<uint32_t>(rates_.size() - 1);
  const auto known = numbers_.find(key.SerializeAsString());
  if (known != numbers_.end()) return known->second;
  if (rates_.size() >= kMaxRates) return last;
  Rates added;
  added.mean_bytes = static_cast<double>(rates.mean_bytes());
  for (const HeapClass& of : rates.classes()) {
    // An invalid probability: such blocks stand only for themselves.
    const double p = of.probability();
    added.classes.push_back({of.below_bytes(), p > 0 && p < 1 ? 1 / p : 1});
  }
  rates_.push_back(std::move(added));
  numbers_.emplace(key.SerializeAsString(), last + 1);
  return last + 1;
}

double HeapWeights::SampledWeight(const Rates& rates, uint64_t size) {
  // A block of n bytes is sampled with probability 1 - exp(-n / mean). Each
  // sampled block stands for the inverse of that.
  if (rates.mean_bytes > 0) {
    const auto bytes = static_cast<double>(std::max<uint64_t>(size, 1));
    return 1 / -std::expm1(-bytes / rates.mean_bytes);
  }
  const auto found = std::upper_bound(
      rates.classes.begin(), rates.classes.end(), size,
      [](uint64_t bytes, const Class& of) { return bytes < of.below_bytes; });
  return found == rates.classes.end() ? 1 : found->weight;
}

}  // namespace pymemrun
