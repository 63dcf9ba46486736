// Turns the columns of an EventBatch into rows. Used by RecordDecoder alone.
#ifndef PYMEMRUN_FORMAT_BATCH_ROWS_H_
#define PYMEMRUN_FORMAT_BATCH_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "format/record_visitor.h"
#include "format/sparse_column.h"

namespace pymemrun {

// The ids that a batch refers to, at most.
struct BatchIds {
  uint32_t site = 0;
  uint32_t thread = 0;
  uint32_t stack = 0;
};

// Checks everything but whether the ids are defined: lengths of parallel
// columns, distances within the batch, overflow, 0 where an id is needed,
// numbers from `next_number` on. Fails with kDataLoss. On success *ids are the
// highest ids, and *end_number the last row's number + 1.
absl::Status CheckBatch(const EventBatch& batch, uint64_t next_number,
                        BatchIds* ids, uint64_t* end_number);

// Gives the rows of a batch, some at a time. The batch must outlive it.
// REQUIRES: CheckBatch() found the batch good, and its ids are defined.
class BatchRows {
 public:
  // `site_what` gives each SiteDef's kind, by id.
  BatchRows(const EventBatch& batch, const std::vector<What>& site_what);
  // Fills up to `size` rows; returns how many, 0 at the end.
  size_t Next(Row* rows, size_t size);

 private:
  const EventBatch& batch_;
  const std::vector<What>& site_what_;
  SparseCursor number_, time_, thread_, rss_, context_, inexact_;
  uint64_t row_ = 0;
  Row last_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCH_ROWS_H_
