#include "readers/late_arrivals.h"

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

  void Look(const ResidentRange& range) {
    const uint64_t first =
        (range.page + block_pages_ - 1) / block_pages_ * block_pages_;
    const uint64_t end =
        (range.page + range.pages) / block_pages_ * block_pages_;
    uint64_t done = first;  // pages before it
    while (done < end && looks_left_ > 0) {
      --looks_left_;
      PageRun run = model_.pages().After(done);
      if (run.owner == 0 || run.begin >= end) break;
      done = run.end;
      run.begin = std::max(run.begin, first);
      run.end = std::min(run.end, end);
      Take(run);
    }
    EndBlock();
  }
  std::vector<LateArrival> Found() { return std::move(found_); }

 private:
  void Take(const PageRun& run) {
    if (run.begin / block_pages_ != run_.begin / block_pages_) EndBlock();
    known_ += run.pages();
    run_ = run;
    // The block in which it ends, if that is another, has several as well.
    run_.begin =
        std::max(run.begin, (run.end - 1) / block_pages_ * block_pages_);
  }
  void EndBlock() {
    const PageOwner& owner = model_.owners()[run_.owner];
    // What has aged was there alone when the kernel answered the last time: the
    // others came later.
    if (known_ == 1 && !run_.aged && owner.weight == 1 &&
        !owner.before_tracing()) {
      const uint64_t begin = run_.begin / block_pages_ * block_pages_;
      found_.push_back({run_.came_us, run_.begin, begin, begin + block_pages_});
    }
    known_ = 0;
  }

  const ResidentModel& model_;
  uint64_t& looks_left_;
  const uint64_t block_pages_;
  // Of the block: how many pages at least, and the last run of them.
  uint64_t known_ = 0;
  PageRun run_;
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
