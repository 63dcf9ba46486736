// Standard errors of sums over sampled pages.
#ifndef PYMEMRUN_READERS_SAMPLE_ERRORS_H_
#define PYMEMRUN_READERS_SAMPLE_ERRORS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pymemrun {

// Of each aligned group of `weight` pages one was chosen at random. A group
// says nothing of how far its own estimate may be off; two groups side by side
// do, by how far they differ: the square of that is on average the variance of
// their sum, and what they differ by in truth besides. So the error is on
// average no less than it is, and close to it both where a place's pages are
// scattered and where they fill groups whole, of which nothing is left to
// chance. Sums have numbers. Not thread safe.
class SampleErrors {
 public:
  // Sum `number` has `amount`, with its weight, of that page. Pages of weight 1
  // were certain. Pages rise from call to call.
  void Add(size_t number, uint64_t page, uint32_t weight, double amount) {
    if (weight <= 1) return;
    if (number >= sums_.size()) sums_.resize(number + 1);
    Sum& sum = sums_[number];
    const uint64_t group = page / weight;
    if (group / 2 != sum.pair) {
      sum.variance += sum.difference * sum.difference;
      sum.difference = 0;
      sum.pair = group / 2;
    }
    sum.difference += group % 2 == 0 ? amount : -amount;
  }

  double VarianceOf(size_t number) const {
    if (number >= sums_.size()) return 0;
    const Sum& sum = sums_[number];
    return sum.variance + sum.difference * sum.difference;
  }
  double ErrorOf(size_t number) const { return std::sqrt(VarianceOf(number)); }

 private:
  struct Sum {
    uint64_t pair = UINT64_MAX;
    double difference = 0;  // of the pair's groups
    double variance = 0;    // of the pairs before
  };
  std::vector<Sum> sums_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_SAMPLE_ERRORS_H_
