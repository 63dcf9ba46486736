// Turns the columns of a PageBatch into entries and those of a Residency into
// ranges. Used by RecordDecoder, and by tests the other way round.
#ifndef PYMEMRUN_FORMAT_PAGE_ROWS_H_
#define PYMEMRUN_FORMAT_PAGE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "format/page_event.h"
#include "format/sparse_column.h"

namespace pymemrun {

// The highest ids that a batch refers to.
struct PageIds {
  uint32_t thread = 0;
  uint32_t stack = 0;
  uint32_t mapping = 0;
};

// Check everything but whether the ids are defined: lengths of parallel
// columns, distances within the batch, overflow, ranges of pages. Fail with
// kDataLoss.
absl::Status CheckPageBatch(const PageBatch& batch, PageIds* ids);
absl::Status CheckResidency(const Residency& residency, PageIds* ids);

// Gives the entries of a batch, some at a time. The batch must outlive it.
// REQUIRES: CheckPageBatch() found the batch good, and its ids are defined.
class PageRows {
 public:
  explicit PageRows(const PageBatch& batch);
  // Fills up to `size` entries; returns how many, 0 at the end.
  size_t Next(PageEntry* entries, size_t size);

 private:
  const PageBatch& batch_;
  SparseCursor time_, thread_, stack_, code_, action_, inferred_, certain_,
      mapping_;
  const uint32_t weight_;
  uint32_t last_mapping_ = 0;
  uint64_t row_ = 0;
  PageEntry last_ = {};
};

// The ranges of a Residency that CheckResidency() found good.
std::vector<ResidentRange> RangesOf(const Residency& residency);

// The inverse: replace what is in the record. For tests and generators. The
// weight is the highest; what came has that or 1. Times do not sink, ranges
// rise.
void EncodePages(absl::Span<const PageEntry> entries, PageBatch* batch);
void EncodeRanges(absl::Span<const ResidentRange> ranges, Residency* residency);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_PAGE_ROWS_H_
