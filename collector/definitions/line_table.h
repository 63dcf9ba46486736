// Positions in code to lines: the line tables of CPython 3.9 to 3.14, decoded.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_LINE_TABLE_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_LINE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Immutable, compact: one entry where the line changes. Movable.
class LineTable {
 public:
  // No table: every position has line 0.
  LineTable() = default;

  // Decodes `bytes` (co_lnotab or co_linetable). Never fails: what a damaged
  // or unknown table does not say has line 0; with no bytes at all the first
  // line is every position's.
  static LineTable Decode(LineTableKind kind, uint32_t first_line,
                          absl::string_view bytes);

  // Line of the instruction at `position` (in code units of 2 bytes); 0 when
  // it has none. Negative as int32 (a frame that has not begun): the first
  // line, as CPython says.
  uint32_t LineAt(uint32_t position) const;

  size_t size_bytes() const { return size_ * sizeof(Entry); }

  struct Entry {
    uint32_t position;  // from here on, until the next entry
    uint32_t line;      // 0: no line
  };

 private:
  std::unique_ptr<Entry[]> entries_;
  uint32_t size_ = 0;
  uint32_t first_line_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_LINE_TABLE_H_
