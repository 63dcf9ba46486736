#include "readers/heap_weights.h"

#include <algorithm>
#include <cmath>

namespace pymemrun {

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
    // What cannot be a probability stands for itself alone.
    const double p = of.probability();
    added.classes.push_back({of.below_bytes(), p > 0 && p < 1 ? 1 / p : 1});
  }
  rates_.push_back(std::move(added));
  numbers_.emplace(key.SerializeAsString(), last + 1);
  return last + 1;
}

double HeapWeights::SampledWeight(const Rates& rates, uint64_t size) {
  if (rates.mean_bytes > 0) {
    const auto bytes = static_cast<double>(std::max<uint64_t>(size, 1));
    return 1 / -std::expm1(-bytes / rates.mean_bytes);
  }
  const auto found =
      std::find_if(rates.classes.begin(), rates.classes.end(),
                   [size](const Class& of) { return of.below_bytes > size; });
  return found == rates.classes.end() ? 1 : found->weight;
}

}  // namespace pymemrun
