#include "readers/late_arrivals.h"

#include <cstdint>
#include <utility>

namespace pymemrun {
namespace {

constexpr uint64_t kHugeBytes = 2 << 20;

class Finder {
 public:
  explicit Finder(const ResidentModel& model)
      : model_(model), block_pages_(kHugeBytes / model.page_bytes()) {}

  void Look(const ResidentRange& range) {
    const uint64_t end = range.page + range.pages;
    const uint64_t first =
        (range.page + block_pages_ - 1) / block_pages_ * block_pages_;
    model_.pages().ForRange(first, end / block_pages_ * block_pages_,
                            [this](uint64_t page, const PageMap::Page& there) {
                              Take(page, there);
                            });
    EndBlock();
  }
  std::vector<LateArrival> Found() { return std::move(found_); }

 private:
  void Take(uint64_t page, const PageMap::Page& there) {
    if (page / block_pages_ != page_ / block_pages_) EndBlock();
    if (known_++ > 0) return;
    page_ = page;
    there_ = there;
  }
  void EndBlock() {
    const PageOwner& owner = model_.owners()[there_.owner];
    if (known_ == 1 && owner.weight == 1 && !owner.before_tracing()) {
      const uint64_t begin = page_ / block_pages_ * block_pages_;
      found_.push_back({there_.came_us, page_, begin, begin + block_pages_});
    }
    known_ = 0;
  }

  const ResidentModel& model_;
  const uint64_t block_pages_;
  // Of the block: how many pages, and its first one.
  uint64_t known_ = 0, page_ = 0;
  PageMap::Page there_;
  std::vector<LateArrival> found_;
};

}  // namespace

std::vector<LateArrival> FindLateArrivals(const ResidencyView& seen,
                                          const ResidentModel& model) {
  Finder finder(model);
  for (const ResidentRange& range : seen.ranges) {
    if (range.file_backed || model.ranges().empty()) continue;
    if (range.huge || !model.sampled()) finder.Look(range);
  }
  return finder.Found();
}

}  // namespace pymemrun
