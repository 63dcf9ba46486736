// Page events as a RecordVisitor gets them. A page is an address divided by
// Header.page_bytes.
#ifndef PYMEMRUN_FORMAT_BATCHES_PAGE_EVENT_H_
#define PYMEMRUN_FORMAT_BATCHES_PAGE_EVENT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "format/limits.h"
#include "format/trace.pb.h"

namespace pymemrun {

// A page that became resident, or another event of a range of pages.
struct PageEntry {
  uint64_t time_us;
  uint64_t page;          // first page
  uint64_t pages;         // 1 for PAGE_CAME
  uint64_t moved_to;      // PAGES_MOVED: new first page; else 0
  uint32_t thread;        // defined
  uint32_t stack;         // 0 or defined
  uint32_t code_mapping;  // of the instruction; 0 or defined
  uint32_t weight;        // number of pages each one stands for; at least 1
  PageAction action;
  bool inferred;            // the stack is not its own
  uint32_t mapping = 0;     // if the pages came; 0 or defined
  bool collecting = false;  // see PageBatch
};

// Whether these pages became resident, by a fault or by a call.
inline bool IsComing(PageAction action) {
  return action == PAGE_CAME || action == PAGES_POPULATED;
}

struct ResidentRange {
  uint64_t page;  // first page
  uint64_t pages;
  uint32_t mapping;  // 0 or defined
  bool file_backed;
  bool huge;
};

// Searches ranges that are sorted by address.
class RangeCursor {
 public:
  explicit RangeCursor(absl::Span<const ResidentRange> ranges)
      : at_(ranges.begin()), end_(ranges.end()) {}
  // Returns the range with `page`, or null. REQUIRES: pages do not fall from
  // call to call.
  const ResidentRange* Find(uint64_t page) {
    while (at_ != end_ && at_->page + at_->pages <= page) ++at_;
    return at_ != end_ && at_->page <= page ? &*at_ : nullptr;
  }
  // Returns the end of the pages for which Find() returns the same as for
  // `page`.
  uint64_t End(uint64_t page) const {
    if (at_ == end_) return kMaxPage;
    return at_->page <= page ? at_->page + at_->pages : at_->page;
  }

 private:
  absl::Span<const ResidentRange>::const_iterator at_, end_;
};

// An answer of the kernel about resident pages. Ranges are sorted and disjoint,
// and valid during the call.
struct ResidencyView {
  uint64_t begin_us;  // the scan was between begin_us
  uint64_t time_us;   // and time_us
  uint64_t rss_bytes;
  absl::Span<const ResidentRange> ranges;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_PAGE_EVENT_H_
