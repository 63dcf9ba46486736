// Standard errors of sums over sampled pages.
#ifndef PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_SAMPLE_ERRORS_H_
#define PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_SAMPLE_ERRORS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pymemrun {

// In each aligned group of N pages (N is their weight) one page was chosen at
// random. A single group does not show how far its estimate may be off. Two
// neighbouring groups do: the square of their difference is, on average, the
// variance of their sum plus the square of their true difference. So the stated
// error is, on average, no less than the true one. It is close if a place's
// pages are scattered, and if they fill whole groups, which leave nothing to
// chance.
//
// If groups are filled, chance affects only the ends of a piece. An end may be
// anywhere in its group. Given the choice that was made, it is e groups away
// from where it seems, with density 1 - |e|. The variance of that is 1/6, in
// squared groups, whatever was chosen. At least two of these are stated for
// each piece.
//
// The first fault in each aligned 2 MiB was recorded with certainty. If the
// choice fell on that page, its group seems empty in a piece. The chance of
// this is 1/N, so each 2 MiB add N - 1 pages to the variance.
//
// Sums are identified by numbers. Not thread safe.
class SampleErrors {
 public:
  explicit SampleErrors(uint64_t page_bytes)
      : block_pages_((2 << 20) / page_bytes) {}

  // Adds `amount`, already weighted, of that page to sum `number`. Pages of
  // weight 1 were certain. REQUIRES: pages ascend from call to call.
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

  // Variance in squared units of `amount`.
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
    double left = 0;      // of the pair's first group, if this is its second
    double first = 0;     // amount of the piece's first group
    uint64_t groups = 0;  // in the current piece, before this one
    // Sums over the pairs, and over the pieces, before.
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
