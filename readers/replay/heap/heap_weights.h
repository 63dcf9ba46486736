// How many blocks each recorded block stands for, by HeapRates.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_WEIGHTS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_WEIGHTS_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "format/trace.pb.h"

namespace pymemrun {

// What a place may hold without any sample of it: in at most one of 20 cases it
// holds more. The count is for the smallest blocks.
struct HeapUnseen {
  // Infinite if blocks of some size are never recorded.
  double bytes = 0, count = 0;

  void TakeMost(const HeapUnseen& other) {
    bytes = std::fmax(bytes, other.bytes);
    count = std::fmax(count, other.count);
  }
};

// All of n blocks with probability p remain unseen with a chance of (1 - p)^n.
// The result is the n, over all sizes, at which this is 1/20.
HeapUnseen UnseenAt(const HeapRates& rates);

// Numbers the rates of a run; number 0 records everything. Not thread safe.
class HeapWeights {
 public:
  // Rates that do not fit are replaced by the last one.
  static constexpr uint32_t kMaxRates = 1 << 17;

  HeapWeights() : rates_(1) {}
  // Equal rates have the same number.
  uint32_t NumberOf(const HeapRates& rates);
  // 1 / p for a recorded block of this size; 1 if p is 0 by these rates.
  double WeightOf(uint32_t number, uint64_t size) const {
    return number == 0 ? 1 : SampledWeight(rates_[number], size);
  }

 private:
  struct Class {
    uint64_t below_bytes;  // rising
    double weight;
  };
  struct Rates {
    double mean_bytes = 0;
    std::vector<Class> classes;
  };
  static double SampledWeight(const Rates& rates, uint64_t size);

  std::vector<Rates> rates_;
  absl::flat_hash_map<std::string, uint32_t> numbers_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_WEIGHTS_H_
