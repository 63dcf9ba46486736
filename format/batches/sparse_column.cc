#include "format/batches/sparse_column.h"

#include <algorithm>

namespace pymemrun {

absl::Status WrongColumn(absl::string_view field, absl::string_view expected,
                         const absl::AlphaNum& found) {
  return absl::DataLossError(
      absl::StrCat(field, ": expected ", expected, ", found ", found));
}

absl::Status CheckLength(absl::string_view field, uint64_t expected,
                         int found) {
  if (expected == static_cast<uint64_t>(found)) return absl::OkStatus();
  return WrongColumn(field, absl::StrCat(expected, " entries"), found);
}

// The first entry is a row, and the others are distances of at least 1. Sums
// stay below 2^64: `row` is below `rows` at each step, and a distance below
// 2^32.
absl::Status CheckAt(absl::string_view field, const Column32& at,
                     uint64_t first, uint64_t rows) {
  uint64_t row = 0;
  for (int i = 0; i < at.size(); ++i) {
    if (i > 0 && at.Get(i) == 0) {
      return WrongColumn(field, "a distance above 0", 0);
    }
    row += at.Get(i);
    if (row >= rows) {
      return WrongColumn(field, absl::StrCat("a row below ", rows), row);
    }
  }
  if (!at.empty() && at.Get(0) < first) {
    return WrongColumn(field, absl::StrCat("row ", first, " or later"),
                       at.Get(0));
  }
  return absl::OkStatus();
}

// Rows without a value keep that of the row before, so row 0 needs one.
absl::Status CheckAtFromZero(absl::string_view field, const Column32& at,
                             uint64_t rows) {
  if (rows != 0 && at.empty()) {
    return WrongColumn(field, "row 0 stated, and so entries", 0);
  }
  if (rows != 0 && at.Get(0) != 0) {
    return WrongColumn(field, "row 0 first", at.Get(0));
  }
  return CheckAt(field, at, 0, rows);
}

absl::Status AddAll(absl::string_view field, const Column64& steps,
                    uint64_t* total) {
  for (const uint64_t step : steps) {
    if (__builtin_add_overflow(*total, step, total)) {
      return WrongColumn(field, "a sum of 64 bits", step);
    }
  }
  return absl::OkStatus();
}

// Whether ids are defined is checked once per batch, by the highest one: ids
// are given without gaps. The loop has no branch that depends on the data, so
// compilers can vectorise it.
absl::Status CheckIds(absl::string_view field, const Column32& ids,
                      uint32_t min, uint32_t* highest) {
  uint32_t low = std::numeric_limits<uint32_t>::max();
  for (const uint32_t id : ids) {
    low = std::min(low, id);
    *highest = std::max(*highest, id);
  }
  if (!ids.empty() && low < min) return WrongColumn(field, "an id", low);
  return absl::OkStatus();
}

}  // namespace pymemrun
