// Standard errors of sums over sampled pages.
#ifndef PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_SAMPLE_ERRORS_H_
#define PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_SAMPLE_ERRORS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pymemrun {

// One page of each aligned group of N, their weight, was chosen at random. One
// group does not say how far its own estimate may be off. Two groups side by
// side do: the square of their difference is on average the variance of their
// sum, plus the square of their true difference. So the stated error is on
// average no less than the true one. It is close where a place's pages are
// scattered, and where they fill whole groups, which leave nothing to chance.
//
// Where groups are filled, only the ends of a piece are left to chance, and so
// is whether groups differ there. An end may lie anywhere in its group. It is e
// groups away from where it seems with the density 1 - |e|: so likely is a
// choice that makes it seem so. The variance of that is 1/6, in groups squared,
// whatever was chosen. At least two of these are stated for each piece.
//
// The first fault in each aligned 2 MiB was certain: where the choice fell on
// that page, its group of a piece seems empty. The chance is 1/N, so that each
// 2 MiB add N - 1 pages to the variance.
//
// Sums have numbers. Not thread safe.
class SampleErrors {
 public:
  explicit SampleErrors(uint64_t page_bytes)
      : block_pages_((2 << 20) / page_bytes) {}

  // Sum `number` has `amount`, with its weight, of that page. Pages of weight 1
  // were certain. Pages rise from call to call.
  void Add(size_t number, uint64_t page, uint32_t weight, double amount) {
    if (weight <= 1) return;
    if (number >= sums_.size()) sums_.resize(number + 1);
    Sum& sum = sums_[number];
    const uint64_t group = page / weight;
    if (group != sum.group) {
      EndGroup(group, &sum);
      sum.group = group;
      sum.is_first_in_block = page / block_pages_ != sum.block;
      sum.block = page / block_pages_;
      sum.weight = weight;
    }
    sum.amount += amount;
  }

  double VarianceOf(size_t number) const {
    if (number >= sums_.size()) return 0;
    Sum sum = sums_[number];
    EndGroup(kNone, &sum);
    return std::max(sum.differences, sum.ends);
  }

 private:
  static constexpr uint64_t kNone = UINT64_MAX;
  struct Sum {
    uint64_t group = kNone, block = kNone;
    uint32_t weight = 0;
    bool is_first_in_block = false;
    double amount = 0;    // of the group
    double left = 0;      // of the pair's first group, where this is the second
    double first = 0;     // of the piece's first group
    uint64_t groups = 0;  // of the piece before this one
    // Of the pairs, and of the pieces, before.
    double differences = 0, ends = 0;
  };

  static void EndGroup(uint64_t next, Sum* sum) {
    if (sum->group == kNone) return;
    if (sum->groups == 0) sum->first = sum->amount;
    const double square = sum->amount * sum->amount;
    const bool goes_on = next == sum->group + 1;
    const bool pair_goes_on = goes_on && sum->group % 2 == 0;
    const double difference = sum->left - sum->amount;
    if (!pair_goes_on) sum->differences += difference * difference;
    sum->left = pair_goes_on ? sum->amount : 0;
    const bool is_alone = sum->groups == 0 && !goes_on;
    if (is_alone) {
      sum->ends += square;
    } else {
      if (sum->is_first_in_block) {
        sum->ends += square * (sum->weight - 1) / sum->weight / sum->weight;
      }
      if (!goes_on) sum->ends += (sum->first * sum->first + square) / 6;
    }
    sum->groups = goes_on ? sum->groups + 1 : 0;
    sum->amount = 0;
  }

  const uint64_t block_pages_;
  std::vector<Sum> sums_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_SAMPLE_ERRORS_H_
