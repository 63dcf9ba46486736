#include "readers/unshared/parent_pages.h"

#include <algorithm>

namespace pymemrun {

ParentPages::ParentPages(const Header& parent,
                         const std::vector<CopyLedger*>& children) {
  const uint64_t start_ns = parent.start_monotonic_ns();
  for (CopyLedger* const child : children) {
    const uint64_t child_ns = child->header().start_monotonic_ns();
    children_.emplace_back((child_ns - std::min(start_ns, child_ns)) / 1000,
                           child);
  }
  std::sort(children_.begin(), children_.end());
}

// The model is as it was until `time_us`.
void ParentPages::SettleUntil(uint64_t time_us) {
  for (; next_ < children_.size() && children_[next_].first < time_us;
       ++next_) {
    RangeCursor ranges(model().ranges());
    children_[next_].second->SettleEarly([&](uint64_t page) {
      return model().pages().At(page).owner != 0 ||
             ranges.Find(page) != nullptr;
    });
  }
}

void ParentPages::Finish() {
  ResidentReplay::Finish();
  SettleUntil(kEnd);
}

}  // namespace pymemrun
