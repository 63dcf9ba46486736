#include "readers/replay/resident/late_arrivals.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "readers/replay/resident/page_gap.h"

namespace pymemrun {
namespace {

// Finds aligned blocks with a single known page.
class Finder {
 public:
  Finder(const ResidentModel& model, uint64_t* looks_left)
      : model_(model),
        looks_left_(*looks_left),
        block_pages_(kHugeBytes / model.page_bytes()) {}

  // An aged page was alone in its block when the kernel last answered: the
  // others came later.
  void Look(const ResidentRange& range) {
    // Only whole blocks within the range can be huge pages.
    const uint64_t begin =
        (range.page + block_pages_ - 1) / block_pages_ * block_pages_;
    const uint64_t end =
        (range.page + range.pages) / block_pages_ * block_pages_;
    if (begin >= end) return;
    model_.pages().ForEachNew(begin, end, [&](const PageRun& run) {
      if (looks_left_ == 0) return false;
      --looks_left_;
      // A run of several pages may extend into the next block.
      const uint64_t first = std::max(run.begin, begin);
      const uint64_t last = std::min(run.end, end) - 1;
      LookAt(first, run);
      // The run's last block, if it is another one. Blocks between are full.
      if (last / block_pages_ != first / block_pages_) {
        LookAt(last / block_pages_ * block_pages_, run);
      }
      return true;
    });
  }
  std::vector<LateArrival> Found() { return std::move(found_); }

 private:
  // Whether the page, part of this run, is the only known one of its block.
  void LookAt(uint64_t page, const PageRun& run) {
    const PageOwner& owner = model_.owners()[run.owner];
    const uint64_t begin = page / block_pages_ * block_pages_;
    // Runs are visited in order: a block is examined once.
    if (begin == begin_) return;
    begin_ = begin;
    // A sampled page does not show that the others came with it.
    if (owner.weight != 1 || owner.before_tracing()) return;
    const uint64_t end = begin + block_pages_;
    if (model_.pages().Covered(begin, end) != 1) return;
    found_.push_back({run.came_us, page, begin, end});
  }

  const ResidentModel& model_;
  uint64_t& looks_left_;
  const uint64_t block_pages_;
  uint64_t begin_ = UINT64_MAX;  // of the block examined last
  std::vector<LateArrival> found_;
};

// Returns the run if a recorded fault brought the page.
const PageRun* Faulted(const PageRun& run, uint64_t page,
                       const ResidentModel& model) {
  const bool there = run.begin <= page && page < run.end && run.owner != 0;
  if (!there || run.sampled) return nullptr;
  const PageOwner& owner = model.owners()[run.owner];
  return owner.by_scan || owner.before_tracing() ? nullptr : &run;
}

}  // namespace

// The kernel maps file pages around a fault without further faults
// (do_fault_around() in mm/memory.c of Linux). An entry without a stack reports
// them.
std::vector<LateArrival> FindLateFilePages(const PageEntry& entry,
                                           const ResidentModel& model,
                                           uint64_t* looks_left) {
  if (entry.action != PAGES_POPULATED || entry.stack != 0) return {};
  const PageMap& pages = model.pages();
  const uint64_t block = kHugeBytes / model.page_bytes();
  const uint64_t end = entry.page + entry.pages;
  std::vector<LateArrival> late;
  // Each gap is split between the known pages at its two ends.
  for (const PageMap::Range& gap : pages.Gaps(entry.page, end, *looks_left)) {
    --*looks_left;
    const PageRun before = pages.Before(gap.begin),
                  after = pages.After(gap.end);
    const PageRun* const left = Faulted(before, gap.begin - 1, model);
    const PageRun* const right = Faulted(after, gap.end, model);
    uint64_t left_end = gap.begin, right_begin = gap.end;
    if (left != nullptr) {
      left_end = std::min(gap.end, ((gap.begin - 1) / block + 1) * block);
    }
    if (right != nullptr) {
      right_begin = std::max(gap.begin, gap.end / block * block);
    }
    // Both reach it: each gets half.
    if (left_end > right_begin) {
      left_end = right_begin = gap.begin + (gap.end - gap.begin) / 2;
    }
    if (gap.begin < left_end) {
      late.push_back({left->came_us, gap.begin - 1, gap.begin, left_end});
    }
    if (right_begin < gap.end) {
      late.push_back({right->came_us, gap.end, right_begin, gap.end});
    }
  }
  return late;
}

// A sampled run knows one page in N, so a single page in a block shows nothing.
std::vector<LateArrival> FindGoneBlocks(const PageEntry& entry,
                                        const ResidentModel& model,
                                        uint64_t* looks_left) {
  const bool removes =
      entry.action == PAGES_UNMAPPED || entry.action == PAGES_DISCARDED;
  if (!removes || model.sampled()) return {};
  Finder finder(model, looks_left);
  finder.Look({entry.page, entry.pages});
  return finder.Found();
}

std::vector<LateArrival> FindLateArrivals(const ResidencyView& seen,
                                          const ResidentModel& model,
                                          uint64_t* looks_left) {
  Finder finder(model, looks_left);
  for (const ResidentRange& range : seen.ranges) {
    // Huge pages of files are found by FindLateFilePages().
    if (range.file_backed || model.ranges().empty()) continue;
    if (range.huge || !model.sampled()) finder.Look(range);
  }
  return finder.Found();
}

}  // namespace pymemrun
