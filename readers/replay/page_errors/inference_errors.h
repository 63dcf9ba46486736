// Variances of places' bytes from pages whose stacks were inferred.
#ifndef PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_INFERENCE_ERRORS_H_
#define PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_INFERENCE_ERRORS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace pymemrun {

// In a burst of faults only some pages of a thread, chosen at random, get a
// stack of their own. The pages of the gap between two such pages are charged
// half to each.
//
// If two lines alternate within a gap of g pages, each known page stands for g.
// Let n be the number of known pages, and p the share of a line. Then the
// line's sum has the variance g x g x n x p(1 - p), and the line changes 2n x
// p(1 - p) times. So g x g / 2 for each change is the variance of both lines.
// If one line just ends within the gap, and the other starts, this is too much:
// g x g / 12 would do.
//
// Pages that a system call brings all belong to it, and to no gap.
//
// Where one page in N is recorded, most of the known pages are not. A gap then
// seems N times as long, or its end is not seen before the next line's. But the
// thread's recorded pages of bursts show that 1 page in g is known. Gaps that
// end at random have 2 x g x g as the mean of their squares, so a change counts
// for no more than that. A known page that follows another known one is not
// part of a burst.
//
// Memory: a few bytes for each pair of owners that followed each other. Not
// thread safe.
class InferenceErrors {
 public:
  // The thread's next page came, with a stack of its own.
  void AddKnown(uint32_t thread, uint32_t stack) {
    Gap& gap = gaps_[thread];
    gap.of_thread.known += gap.last.pages + gap.next.pages > 0;
    if (stack == gap.next.stack) EndGap(gap);
    gap = {{stack}, {}, gap.of_thread};
  }
  // A page came whose stack was inferred. `owner`: the number of its owner.
  void AddInferred(uint32_t thread, uint32_t stack, uint32_t owner,
                   uint32_t weight) {
    Gap& gap = gaps_[thread];
    ++gap.of_thread.inferred;
    gap.of_thread.sampled |= weight > 1;
    came_[owner] += weight;
    const bool of_last = gap.next.pages == 0 && stack == gap.last.stack;
    if (!of_last && gap.next.pages > 0 && stack != gap.next.stack &&
        gap.of_thread.sampled) {
      EndGap(gap);
      gap.last = gap.next;
    }
    Part& part = of_last ? gap.last : gap.next;
    if (part.stack != stack) part = {stack};
    part.owner = owner;
    part.pages += weight;
  }

  // Calls f(owner, other, variance): the variance, in squared pages, of the
  // pages of `owner` that cannot be distinguished from those of `other`.
  // `there`(owner): how many of the owner's inferred pages are counted, out of
  // those that came.
  template <typename There, typename F>
  void ForEach(There there, F f) const {
    for (const auto& [owners, variance] : squares_) {
      const auto [one, other] = owners;
      f(one, other, variance * Share(one, there(one)));
      f(other, one, variance * Share(other, there(other)));
    }
  }

 private:
  struct Part {
    uint32_t stack = 0, owner = 0;
    uint64_t pages = 0;  // number of inferred pages
  };
  struct Recorded {
    uint64_t known = 0, inferred = 0;
    bool sampled = false;
    // The number of pages for each known one.
    double EachKnown() const {
      return static_cast<double>(known + inferred) / static_cast<double>(known);
    }
  };
  struct Gap {
    Part last, next;  // of the known page before; of the next one
    Recorded of_thread;
  };

  void EndGap(const Gap& gap) {
    const auto half =
        static_cast<double>(std::min(gap.last.pages, gap.next.pages));
    if (half == 0) return;
    double variance = 2 * half * half;
    if (gap.of_thread.sampled && gap.of_thread.known > 0) {
      const double each_known = gap.of_thread.EachKnown();
      variance = std::min(variance, 2 * each_known * each_known);
    }
    squares_[std::minmax(gap.last.owner, gap.next.owner)] += variance;
  }
  double Share(uint32_t owner, uint64_t there) const {
    const auto came = static_cast<double>(came_.at(owner));
    return std::min(1.0, static_cast<double>(there) / came);
  }

  absl::flat_hash_map<uint32_t, Gap> gaps_;  // by thread
  // By pair of owners, the lower number first.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, double> squares_;
  absl::flat_hash_map<uint32_t, uint64_t> came_;  // by owner
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_INFERENCE_ERRORS_H_
