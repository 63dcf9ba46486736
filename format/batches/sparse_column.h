// Sparse columns of batches: `X_at` lists the rows where X is stated, each as
// the distance from the one before. RowSteps writes such a list, SparseCursor
// walks it. Used by the codecs of batches.
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

// All of these fail with kDataLoss: "FIELD: expected ..., found ...".
absl::Status WrongColumn(absl::string_view field, absl::string_view expected,
                         const absl::AlphaNum& found);
// The length of a column that is parallel to another one.
absl::Status CheckLength(absl::string_view field, uint64_t expected, int found);
// The rows of a column lie below `rows` and rise. `first` is the lowest row
// where one may stand.
absl::Status CheckAt(absl::string_view field, const Column32& at,
                     uint64_t first, uint64_t rows);
// The same, for a column that states something of row 0 if there are rows.
absl::Status CheckAtFromZero(absl::string_view field, const Column32& at,
                             uint64_t rows);
// *total += each of `steps`, without overflow.
absl::Status AddAll(absl::string_view field, const Column64& steps,
                    uint64_t* total);
// No id is below `min`. *highest becomes at least the highest.
absl::Status CheckIds(absl::string_view field, const Column32& ids,
                      uint32_t min, uint32_t* highest);

// The highest ids that a batch refers to.
struct BatchIds {
  uint32_t site = 0, thread = 0, stack = 0, mapping = 0;
};

// Makes distances of rows, to be added to a column.
class RowSteps {
 public:
  // REQUIRES: `row` is not below the row of the last call.
  uint32_t StepTo(uint32_t row) {
    const uint32_t step = row - last_;
    last_ = row;
    return step;
  }
  // The row of the last call, 0 before the first.
  uint32_t last() const { return last_; }

 private:
  uint32_t last_ = 0;
};

// Walks a column of distances that CheckAt() found good, and that outlives it.
struct SparseCursor {
  static constexpr uint64_t kNoRow = std::numeric_limits<uint64_t>::max();

  const uint32_t* at;
  int size;
  int index = 0;  // of the entry that `next` comes from
  uint64_t next;  // row of the next entry
  explicit SparseCursor(const Column32& column)
      : at(column.data()),
        size(column.size()),
        next(column.empty() ? kNoRow : column.Get(0)) {}
  void Advance() { next = ++index < size ? next + at[index] : kNoRow; }
  // Whether `row` has an entry, which is then behind.
  bool Take(uint64_t row) {
    if (row != next) return false;
    Advance();
    return true;
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_SPARSE_COLUMN_H_
