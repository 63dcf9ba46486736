// Resident pages that nobody is known to have brought, between known ones, and
// those that were to come when the kernel was asked. Used by ResidentModel.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_GAP_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_GAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "format/records/record_visitor.h"
#include "readers/replay/resident/page_run_tree.h"

namespace pymemrun {

// A known page beside others.
struct KnownPage {
  uint64_t page = 0;
  uint32_t owner = 0;  // 0: no page
  uint64_t came_us = 0;
};

struct PageGap {
  uint64_t begin = 0, end = 0;
  KnownPage left, right;          // on both sides
  uint64_t block = 1, piece = 1;  // aligned pages come together; may come
  uint32_t mapping = 0;
  uint64_t time_us = 0;
};

// Of a gap, what has no owner near.
struct GapMiddle {
  uint64_t begin, end;
};

// `middle` without what lies in one aligned block with a known page.
inline GapMiddle WithoutNear(const PageGap& gap, uint64_t block,
                             GapMiddle middle) {
  if (block == 1) return middle;
  GapMiddle rest = middle;
  if (gap.left.owner != 0) {
    rest.begin = std::clamp((gap.left.page / block + 1) * block, middle.begin,
                            middle.end);
  }
  if (gap.right.owner != 0) {
    rest.end =
        std::clamp(gap.right.page / block * block, middle.begin, middle.end);
  }
  if (rest.begin > rest.end) {  // both are near: half of it each
    rest.begin = rest.end = std::clamp((gap.left.page + gap.right.page) / 2 + 1,
                                       middle.begin, middle.end);
  }
  return rest;
}

inline constexpr uint64_t kHugeBytes = 2 << 20;
inline constexpr uint64_t kAroundBytes = 64 << 10;

// Pages of an aligned block of this size come together.
inline uint64_t BlockOf(const ResidentRange& range, uint64_t page_bytes) {
  if (range.huge) return kHugeBytes / page_bytes;
  return range.file_backed ? kAroundBytes / page_bytes : 1;
}

// The most that a file's cache holds, and the kernel maps, in one piece.
inline uint64_t PieceOf(const ResidentRange& range, uint64_t page_bytes) {
  return range.huge || range.file_backed ? kHugeBytes / page_bytes : 1;
}

// Of a file's pages nobody need be known to have brought the rest.
inline bool IsOfFile(const PageGap& gap) { return gap.piece > gap.block; }

// Pages whose fault had begun when the kernel was asked what is resident, and
// that it had not brought yet: the fault's event comes first. On a busy machine
// a huge page takes a good part of a second. They were taken for gone; where
// the next Residency finds them, and nobody brought them since, they were not.
// Not thread safe. Bounded.
class FaultsUnderWay {
 public:
  // A Residency does not have the run, which came at a time after `asked_us`,
  // when the kernel was last asked.
  void Miss(const PageRun& run, uint64_t asked_us) {
    if (run.came_us > asked_us && next_.size() < kMost) next_.push_back(run);
  }
  // These pages went.
  void Remove(uint64_t begin, uint64_t end) {
    std::erase_if(missing_, [=](const PageRun& run) {
      return run.begin < end && run.end > begin;
    });
  }
  // Calls `own` with each part of what the Residency before missed that is in
  // one of the ranges, which are in the order of addresses.
  template <typename Own>
  void Return(absl::Span<const ResidentRange> ranges, Own own);

 private:
  // Threads whose faults are under way at a time. What a program frees without
  // a call that is seen is missed, too.
  static constexpr size_t kMost = 256;

  std::vector<PageRun> missing_, next_;
};

template <typename Own>
void FaultsUnderWay::Return(absl::Span<const ResidentRange> ranges, Own own) {
  for (const PageRun& run : missing_) {
    auto range = std::upper_bound(ranges.begin(), ranges.end(), run.begin,
                                  [](uint64_t page, const ResidentRange& r) {
                                    return page < r.page + r.pages;
                                  });
    for (; range != ranges.end() && range->page < run.end; ++range) {
      PageRun part = run;
      part.begin = std::max(run.begin, range->page);
      part.end = std::min(run.end, range->page + range->pages);
      own(part);
    }
  }
  missing_ = std::exchange(next_, {});
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_GAP_H_
