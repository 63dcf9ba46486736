// Sparse columns of batches. A column `X_at` lists the rows that have a value
// X, each as the distance from the previous such row. RowSteps writes such a
// list, SparseCursor reads it. Used by the codecs of batches.
#ifndef PYMEMRUN_FORMAT_BATCHES_SPARSE_COLUMN_H_
#define PYMEMRUN_FORMAT_BATCHES_SPARSE_COLUMN_H_

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

using Column32 = google::protobuf::RepeatedField<uint32_t>;
using Column64 = google::protobuf::RepeatedField<uint64_t>;

// These functions fail with kDataLoss: "FIELD: expected ..., found ...".
absl::Status WrongColumn(absl::string_view field, absl::string_view expected,
                         const absl::AlphaNum& found);
// Checks the length of a column that is parallel to another one.
absl::Status CheckLength(absl::string_view field, uint64_t expected, int found);
// Checks that the rows of a column rise, from `first` on, and are below `rows`.
absl::Status CheckAt(absl::string_view field, const Column32& at,
                     uint64_t first, uint64_t rows);
// The same for a column that must have a value for row 0 if there are rows.
absl::Status CheckAtFromZero(absl::string_view field, const Column32& at,
                             uint64_t rows);
// Adds each of `steps` to *total. Fails on overflow.
absl::Status AddAll(absl::string_view field, const Column64& steps,
                    uint64_t* total);
// Checks that no id is below `min`. Raises *highest to the highest id.
absl::Status CheckIds(absl::string_view field, const Column32& ids,
                      uint32_t min, uint32_t* highest);

// Highest ids in a batch.
struct BatchIds {
  uint32_t site = 0, thread = 0, stack = 0, mapping = 0;
};

// Turns row numbers into distances, the values of an `X_at` column.
class RowSteps {
 public:
  // Returns the distance from the last row. REQUIRES: `row` is at least the
  // last row.
  uint32_t StepTo(uint32_t row) {
    const uint32_t step = row - last_;
    last_ = row;
    return step;
  }
  // Row of the last call, or 0.
  uint32_t last() const { return last_; }

 private:
  uint32_t last_ = 0;
};

// Iterates over a column of distances. The column must outlive it. REQUIRES:
// CheckAt() succeeded.
struct SparseCursor {
  static constexpr uint64_t kNoRow = std::numeric_limits<uint64_t>::max();

  const uint32_t* at;
  int size;
  int index = 0;  // entry that `next` was read from
  uint64_t next;  // row of the next entry
  explicit SparseCursor(const Column32& column)
      : at(column.data()),
        size(column.size()),
        next(column.empty() ? kNoRow : column.Get(0)) {}
  void Advance() { next = ++index < size ? next + at[index] : kNoRow; }
  // Returns whether `row` has an entry, and moves past it.
  bool Take(uint64_t row) {
    if (row != next) return false;
    Advance();
    return true;
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_SPARSE_COLUMN_H_
