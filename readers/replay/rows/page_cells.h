// The cells of a printed page event, as a Style (see row_plan.h) has them.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_PAGE_CELLS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_PAGE_CELLS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "readers/replay/rows/event_cells.h"
#include "readers/replay/rows/row_writer.h"
#include "text/number_format.h"

namespace pymemrun {

// "came", "unmapped", ...
inline absl::string_view ActionName(PageAction action) {
  static constexpr absl::string_view kNames[] = {
      "came", "populated", "unmapped", "discarded", "moved", "trimmed"};
  const auto index = static_cast<size_t>(action);
  return index < std::size(kNames) ? kNames[index] : "?";
}

// Of a page of the run.
inline std::string PageAddress(const RunView& run, uint64_t page) {
  return absl::StrCat("0x", absl::Hex(page * run.page_bytes));
}

// What page events alone have.
template <typename Style>
void AppendOwnPageCell(const Style& style, Column column, const RunView& run,
                       const PageEntry& entry, std::string* out) {
  char text[kMaxNumberWidth];
  switch (column) {
    case Column::kPageAddress:
      return style.TextCell(column, PageAddress(run, entry.page), out);
    case Column::kAction:
      return style.TextCell(column, ActionName(entry.action), out);
    case Column::kPages:
      return style.NumberCell(column, entry.pages, out);
    case Column::kMovedTo:
      if (entry.action != PAGES_MOVED) return style.EmptyCell(column, out);
      return style.TextCell(column, PageAddress(run, entry.moved_to), out);
    case Column::kInferred:
      out->append(text, style.Exact(entry.inferred, text) - text);
      return;
    case Column::kInstructionModule:
      if (entry.code_mapping == 0) return style.EmptyCell(column, out);
      return style.TextCell(column, run.index->MappingName(entry.code_mapping),
                            out);
    case Column::kWeight:
      if (!IsComing(entry.action)) return style.EmptyCell(column, out);
      return style.DecimalCell(column, entry.weight, out);
    default:
      return style.EmptyCell(column, out);
  }
}

// `place` is that of the entry's stack. What a page event has not is empty.
template <typename Style>
void AppendPageCell(const Style& style, Column column, const RunView& run,
                    const PageEntry& entry, const SourceLocation& place,
                    std::string* out) {
  AppendEventCell(
      style, column, run,
      {"PAGE", "PAGE", entry.time_us, entry.thread, entry.stack, &place},
      [&] { AppendOwnPageCell(style, column, run, entry, out); }, out);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_PAGE_CELLS_H_
