// How heap events are sampled, for tests.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_RATES_FOR_TESTS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_RATES_FOR_TESTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "format/trace.pb.h"

namespace pymemrun {

// One block in each `mean_bytes` bytes, on average.
inline HeapRates MeanRates(uint64_t mean_bytes) {
  HeapRates rates;
  rates.set_mean_bytes(mean_bytes);
  return rates;
}

// Each class: the size in bytes that its blocks are below, and the probability
// that a block of it is recorded.
inline HeapRates ClassRates(
    const std::vector<std::pair<uint64_t, double>>& classes) {
  HeapRates rates;
  for (const auto& [below_bytes, probability] : classes) {
    HeapClass* const added = rates.add_classes();
    added->set_below_bytes(below_bytes);
    added->set_probability(probability);
  }
  return rates;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_RATES_FOR_TESTS_H_
