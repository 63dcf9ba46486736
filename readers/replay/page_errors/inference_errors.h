// Variances of what places have of pages whose stacks were inferred.
#ifndef PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_INFERENCE_ERRORS_H_
#define PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_INFERENCE_ERRORS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace pymemrun {

// In bursts some pages of a thread have a stack of their own, chosen at random.
// Those in between are charged to the two beside them, half each. Where lines
// take turns within that gap of g pages, each known page stands for g. Of n
// known ones n x p are a line's, its sum has the variance g x g x n x p(1 - p),
// and 2n x p(1 - p) times another line comes next. So g x g / 2 for each such
// change is the variance of both lines. Where a line ends within the gap, and
// the other begins, it is too much: g x g / 12 would do.
//
// What a system call brings is all its own: nothing of the gap is the other's.
//
// Where one page in N is recorded, most known ones are not among them. A gap
// then seems N times as long, or is not seen to end before the next line's. But
// the thread's recorded pages tell which part of all is known: half a gap
// counts as no more than that makes likely.
//
// Memory: some bytes for each two owners that followed each other. Not thread
// safe.
class InferenceErrors {
 public:
  // The thread's next page came, which has a stack of its own.
  void AddKnown(uint32_t thread, uint32_t stack) {
    Gap& gap = gaps_[thread];
    ++gap.of_thread.known;
    if (stack == gap.next.stack) EndGap(gap);
    gap = {{stack}, {}, gap.of_thread};
  }
  // It came, and its stack was inferred. `owner`: the number of whoever has it.
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

  // Calls f(owner, other, variance) with the variance, in pages, of what
  // `owner` has where it cannot be told from `other`. `there`: of how many
  // pages of an owner they are asked for: of inferred ones, of those that came.
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
    uint64_t pages = 0;  // inferred
  };
  struct Recorded {
    uint64_t known = 0, inferred = 0;
    bool sampled = false;
    // One page in so many is known.
    double EachKnown() const {
      return static_cast<double>(known + inferred) / static_cast<double>(known);
    }
  };
  struct Gap {
    Part last, next;  // of the known page before, of the next one
    Recorded of_thread;
  };

  void EndGap(const Gap& gap) {
    auto half = static_cast<double>(std::min(gap.last.pages, gap.next.pages));
    if (half == 0) return;
    if (gap.of_thread.sampled && gap.of_thread.known > 0) {
      half = std::min(half, gap.of_thread.EachKnown());
    }
    squares_[std::minmax(gap.last.owner, gap.next.owner)] += 2 * half * half;
  }
  double Share(uint32_t owner, uint64_t there) const {
    const auto came = static_cast<double>(came_.at(owner));
    return std::min(1.0, static_cast<double>(there) / came);
  }

  absl::flat_hash_map<uint32_t, Gap> gaps_;  // by thread
  // By two owners, the lower number first.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, double> squares_;
  absl::flat_hash_map<uint32_t, uint64_t> came_;  // by owner
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_PAGE_ERRORS_INFERENCE_ERRORS_H_
