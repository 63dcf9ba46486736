// What rows for programs (CSV, JSON lines) have in common: numbers as they are.
// Each Style of csv_writer.cc and jsonl_writer.cc is built on it, see
// row_plan.h.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_MACHINE_CELLS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_MACHINE_CELLS_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/replay/rows/row_plan.h"
#include "text/number_format.h"

namespace pymemrun {

// `Style` is the class derived from it; it adds TextCell() and EmptyCell().
template <typename Style>
struct MachineCells {
  // A mark's label is in the column of functions.
  static constexpr Column kMarkLabel = Column::kFunction;

  void NumberCell(Column, uint64_t value, std::string* out) const {
    absl::StrAppend(out, value);
  }

  char* Event(uint64_t number, char* out) const {
    return WriteDecimal(number, out);
  }
  char* Devent(uint64_t devent, char* out) const {
    return WriteDecimal(devent, out);
  }
  char* Clock(uint64_t time_us, char* out) const {
    return WriteSeconds(time_us, out);
  }
  char* Rss(uint64_t rss_bytes, char* out) const {
    return WriteDecimal(rss_bytes, out);
  }
  char* Drss(int64_t drss_bytes, char* out) const {
    return WriteDecimal(drss_bytes, out);
  }
  char* Exact(bool exact, char* out) const {
    std::memcpy(out, exact ? "true " : "false", 5);
    return out + (exact ? 4 : 5);
  }

  void DigitsCell(Column, absl::string_view digits, std::string* out) const {
    absl::StrAppend(out, digits);
  }
  void SizeCell(Column, uint64_t bytes, std::string* out) const {
    absl::StrAppend(out, bytes);
  }
  void DecimalCell(Column, double value, std::string* out) const {
    absl::StrAppendFormat(out, "%.10g", value);
  }

  void ExtraContext(absl::string_view, std::string* out) const {
    static_cast<const Style&>(*this).EmptyCell(Column::kContext, out);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_MACHINE_CELLS_H_
