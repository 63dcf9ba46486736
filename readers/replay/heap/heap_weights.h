// For how many blocks each recorded one stands, as HeapRates says.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_WEIGHTS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_WEIGHTS_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "format/trace.pb.h"

namespace pymemrun {

// What a place may have without a sample of it: whoever says that it has no
// more is wrong in one of 20 cases at most. The count is that of the smallest
// blocks.
struct HeapUnseen {
  // Infinite where blocks of some sizes are never recorded.
  double bytes = 0, count = 0;

  void TakeMost(const HeapUnseen& other) {
    bytes = std::fmax(bytes, other.bytes);
    count = std::fmax(count, other.count);
  }
};

// n blocks of probability p all remain unseen with a chance of (1 - p)^n; this
// is the n, over all sizes, for which that is 1/20.
HeapUnseen UnseenAt(const HeapRates& rates);

// Rates have numbers; number 0 records everything. Not thread safe.
class HeapWeights {
 public:
  // Different rates beyond so many are taken for the last of these.
  static constexpr uint32_t kMaxRates = 1 << 17;

  HeapWeights() : rates_(1) {}
  // The number of these rates: the same for equal ones.
  uint32_t NumberOf(const HeapRates& rates);
  // 1 / p of a block of this size that was recorded at these rates; 1 where p
  // is 0 by these rates.
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
