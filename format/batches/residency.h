// Residency: ranges to columns, and back. The collector and tests encode;
// RecordDecoder decodes.
#ifndef PYMEMRUN_FORMAT_BATCHES_RESIDENCY_H_
#define PYMEMRUN_FORMAT_BATCHES_RESIDENCY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/batches/page_event.h"
#include "format/batches/sparse_column.h"

namespace pymemrun {

// Adds ranges to a Residency that has none, and that outlives it.
class ResidencyEncoder {
 public:
  explicit ResidencyEncoder(Residency* residency) : residency_(*residency) {}
  // REQUIRES: it begins where the last range ended, or above.
  void Add(const ResidentRange& range);

 private:
  Residency& residency_;
  uint64_t end_ = 0;
  RowSteps mapping_at_, flags_at_;
};

// Checks everything but whether the mappings are defined: lengths of parallel
// columns, distances within the record, overflow, ranges of pages. Fails with
// kDataLoss. *mapping becomes at least the highest MappingDef.id.
absl::Status CheckResidency(const Residency& residency, uint32_t* mapping);
// The ranges of a Residency that CheckResidency() found good.
std::vector<ResidentRange> RangesOf(const Residency& residency);

// Checks that these pages, from `page` on, end at or below kMaxPage.
absl::Status CheckPagesEnd(absl::string_view field, uint64_t page,
                           uint64_t pages);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_RESIDENCY_H_
