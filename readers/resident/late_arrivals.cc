#include "readers/resident/late_arrivals.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pymemrun {
namespace {

constexpr uint64_t kHugeBytes = 2 << 20;

class Finder {
 public:
  Finder(const ResidentModel& model, uint64_t* looks_left)
      : model_(model),
        looks_left_(*looks_left),
        block_pages_(kHugeBytes / model.page_bytes()) {}

  // What has aged was there alone when the kernel answered the last time: the
  // others came later.
  void Look(const ResidentRange& range) {
    const uint64_t begin =
        (range.page + block_pages_ - 1) / block_pages_ * block_pages_;
    const uint64_t end =
        (range.page + range.pages) / block_pages_ * block_pages_;
    if (begin >= end) return;
    model_.pages().ForEachNew(begin, end, [&](const PageRun& run) {
      if (looks_left_ == 0) return false;
      --looks_left_;
      // Of a run of several pages one may lie in the next block.
      const uint64_t first = std::max(run.begin, begin);
      const uint64_t last = std::min(run.end, end) - 1;
      LookAt(first, run);
      if (last / block_pages_ != first / block_pages_) {
        LookAt(last / block_pages_ * block_pages_, run);
      }
      return true;
    });
  }
  std::vector<LateArrival> Found() { return std::move(found_); }

 private:
  // Whether the page, of that run, is the only known one of its block.
  void LookAt(uint64_t page, const PageRun& run) {
    const PageOwner& owner = model_.owners()[run.owner];
    const uint64_t begin = page / block_pages_ * block_pages_;
    if (begin == begin_) return;
    begin_ = begin;
    if (owner.weight != 1 || owner.before_tracing()) return;
    const uint64_t end = begin + block_pages_;
    if (model_.pages().Covered(begin, end) != 1) return;
    found_.push_back({run.came_us, page, begin, end});
  }

  const ResidentModel& model_;
  uint64_t& looks_left_;
  const uint64_t block_pages_;
  uint64_t begin_ = UINT64_MAX;  // of the block looked at last
  std::vector<LateArrival> found_;
};

}  // namespace

std::vector<LateArrival> FindLateArrivals(const ResidencyView& seen,
                                          const ResidentModel& model,
                                          uint64_t* looks_left) {
  Finder finder(model, looks_left);
  for (const ResidentRange& range : seen.ranges) {
    if (range.file_backed || model.ranges().empty()) continue;
    if (range.huge || !model.sampled()) finder.Look(range);
  }
  return finder.Found();
}

}  // namespace pymemrun
