// Gaps between pages with known owners, and pages that were on their way in
// when the kernel was asked. Used by ResidentModel.
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

// A page with a known owner, at the edge of a gap.
struct KnownPage {
  uint64_t page = 0;
  uint32_t owner = 0;  // 0: there is no such page
  uint64_t came_us = 0;
};

// Resident pages without a known owner. Page numbers.
struct PageGap {
  uint64_t begin = 0, end = 0;
  KnownPage left, right;  // its neighbours
  // Sizes in pages: an aligned block always comes in together, a piece may.
  uint64_t block = 1, piece = 1;
  uint32_t mapping = 0;
  uint64_t time_us = 0;
};

// The part of a gap that is in no block with a neighbour.
struct GapMiddle {
  uint64_t begin, end;
};

// `middle` without the pages that are in one aligned block with a neighbour.
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
  if (rest.begin > rest.end) {  // near both: each gets half
    rest.begin = rest.end = std::clamp((gap.left.page + gap.right.page) / 2 + 1,
                                       middle.begin, middle.end);
  }
  return rest;
}

// A huge page on x86-64, and what the kernel maps around a fault in a file
// (fault_around_bytes, 64 KiB).
inline constexpr uint64_t kHugeBytes = 2 << 20;
inline constexpr uint64_t kAroundBytes = 64 << 10;

// Pages in an aligned block of this size come in together.
inline uint64_t BlockOf(const ResidentRange& range, uint64_t page_bytes) {
  if (range.huge) return kHugeBytes / page_bytes;
  return range.file_backed ? kAroundBytes / page_bytes : 1;
}

// The largest piece of a file that the page cache holds, and the kernel maps,
// at once.
inline uint64_t PieceOf(const ResidentRange& range, uint64_t page_bytes) {
  return range.huge || range.file_backed ? kHugeBytes / page_bytes : 1;
}

// The rest of a gap in a file may have come without a recorded fault.
inline bool IsOfFile(const PageGap& gap) { return gap.piece > gap.block; }

// Pages whose fault had started, but not ended, when the kernel was asked what
// is resident: the event of a fault comes before the page. On a busy machine a
// huge page takes a good part of a second. The Residency lacks these pages, so
// they were removed. If the next one has them, and no fault was recorded since,
// they get their owners back. Not thread safe. Memory is bounded.
class FaultsUnderWay {
 public:
  // A Residency lacks this run. `asked_us`: when the kernel was last asked.
  // Runs that came before that have really gone.
  void Miss(const PageRun& run, uint64_t asked_us) {
    if (run.came_us > asked_us && next_.size() < kMost) next_.push_back(run);
  }
  // These pages were unmapped or moved.
  void Remove(uint64_t begin, uint64_t end) {
    std::erase_if(missing_, [=](const PageRun& run) {
      return run.begin < end && run.end > begin;
    });
  }
  // Calls `own` with each part of a run that the last Residency lacked and one
  // of these ranges has. REQUIRES: the ranges are sorted by address.
  template <typename Own>
  void Return(absl::Span<const ResidentRange> ranges, Own own);

 private:
  // The number of threads with a fault under way at once. Memory freed without
  // a recorded call is lacking, too, so the number is bounded.
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
