// What the records of page events become for a RecordVisitor. A page is an
// address divided by Header.page_bytes.
#ifndef PYMEMRUN_FORMAT_BATCHES_PAGE_EVENT_H_
#define PYMEMRUN_FORMAT_BATCHES_PAGE_EVENT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "format/limits.h"
#include "format/trace.pb.h"

namespace pymemrun {

// One page that came, or a range of pages that something happened to.
struct PageEntry {
  uint64_t time_us;
  uint64_t page;          // the first one
  uint64_t pages;         // 1 for PAGE_CAME
  uint64_t moved_to;      // of PAGES_MOVED the new first page; else 0
  uint32_t thread;        // defined
  uint32_t stack;         // 0 or defined
  uint32_t code_mapping;  // of the instruction; 0 or defined
  uint32_t weight;        // of what came: each page stands for so many, at
                          // least 1; of other actions 1
  PageAction action;
  bool inferred;            // the stack is not that of the moment
  uint32_t mapping = 0;     // of what came: what it is part of; 0 or defined
  bool collecting = false;  // see PageBatch
};

// Whether the pages of this came: by a fault, or by a call.
inline bool IsComing(PageAction action) {
  return action == PAGE_CAME || action == PAGES_POPULATED;
}

struct ResidentRange {
  uint64_t page;  // the first one
  uint64_t pages;
  uint32_t mapping;  // what they are part of; 0 or defined
  bool file_backed;
  bool huge;
};

// Walks ranges in the order of addresses.
class RangeCursor {
 public:
  explicit RangeCursor(absl::Span<const ResidentRange> ranges)
      : at_(ranges.begin()), end_(ranges.end()) {}
  // The range that `page` lies in, or null. Pages rise from call to call.
  const ResidentRange* Find(uint64_t page) {
    while (at_ != end_ && at_->page + at_->pages <= page) ++at_;
    return at_ != end_ && at_->page <= page ? &*at_ : nullptr;
  }
  // Up to where Find() gives what it gave last, of this page.
  uint64_t End(uint64_t page) const {
    if (at_ == end_) return kMaxPage;
    return at_->page <= page ? at_->page + at_->pages : at_->page;
  }

 private:
  absl::Span<const ResidentRange>::const_iterator at_, end_;
};

// One answer of the kernel's to what is resident. The ranges are in the order
// of addresses, do not overlap, and are valid during the call.
struct ResidencyView {
  uint64_t begin_us;  // it was asked between begin_us...
  uint64_t time_us;   // ...and time_us
  uint64_t rss_bytes;
  absl::Span<const ResidentRange> ranges;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_PAGE_EVENT_H_
