// The cells of printed page, heap and GIL events. A Style formats them, see
// row_plan.h.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_SIDE_CELLS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_SIDE_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "format/timed/timed_events.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/rows/event_cells.h"
#include "readers/replay/rows/row_writer.h"
#include "text/number_format.h"

namespace pymemrun {

// Names are part of the output formats.
// "came", "unmapped", ...
inline absl::string_view ActionName(PageAction action) {
  static constexpr absl::string_view kNames[] = {
      "came", "populated", "unmapped", "discarded", "moved", "trimmed"};
  const auto index = static_cast<size_t>(action);
  return index < std::size(kNames) ? kNames[index] : "?";
}

// The address of a page, in hexadecimal.
inline std::string PageAddress(const RunView& run, uint64_t page) {
  return absl::StrCat("0x", absl::Hex(page * run.page_bytes));
}

// The cells that only page events have.
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

// `place` is that of the entry's stack. Cells that a page event lacks are
// empty.
template <typename Style>
void AppendPageCell(const Style& style, Column column, const RunView& run,
                    const PageEntry& entry, const SourceLocation& place,
                    std::string* out) {
  AppendEventCell(
      style, column, run,
      {"PAGE", "PAGE", entry.time_us, entry.thread, entry.stack, &place},
      [&] { AppendOwnPageCell(style, column, run, entry, out); }, out);
}

// The cells of a printed event of the GIL, likewise.

// "taken", "waiting", ...
inline absl::string_view GilActionName(GilAction action) {
  static constexpr absl::string_view kNames[] = {
      "taken",        "waiting", "giving_way",   "gave_way",      "waiter",
      "holder",       "left",    "state",        "lock_waiting",  "lock_taken",
      "stands_still", "goes_on", "stops_others", "others_stopped"};
  const auto index = static_cast<size_t>(action);
  return index < std::size(kNames) ? kNames[index] : "?";
}

// The cells that only events of the GIL have.
template <typename Style>
void AppendOwnGilCell(const Style& style, Column column, const RunView& run,
                      const GilEvent& event, std::string* out) {
  const auto seconds = [&](uint64_t ns) {
    style.DigitsCell(
        column, absl::StrFormat("%.9f", static_cast<double>(ns) / 1e9), out);
  };
  if (column == Column::kAction) {
    return style.TextCell(column, GilActionName(event.action), out);
  }
  if (column == Column::kGil && !IsOfLocks(event.action)) {
    return style.NumberCell(column, event.gil, out);
  }
  if (column == Column::kGilBy && HasBy(event.action) && event.by != 0) {
    return style.TextCell(column, run.index->ThreadLabel(event.by), out);
  }
  if (!HasHold(event.action)) return style.EmptyCell(column, out);
  switch (column) {
    case Column::kGilFree:
      return seconds(event.free_ns);
    case Column::kGilPauses:
      return style.DigitsCell(column, absl::StrCat(event.pauses), out);
    case Column::kGilPaused:
      return seconds(event.paused_ns);
    default:
      return style.EmptyCell(column, out);
  }
}

// `place` is that of the event's stack; unused if the event has none.
template <typename Style>
void AppendGilCell(const Style& style, Column column, const RunView& run,
                   const GilEvent& event, const SourceLocation& place,
                   std::string* out) {
  AppendEventCell(
      style, column, run,
      {"GIL", "GIL", event.time_ns / 1000, event.thread, event.stack,
       HasGilStack(event.action) ? &place : nullptr},
      [&] { AppendOwnGilCell(style, column, run, event, out); }, out);
}

// The cells of a printed heap event, likewise.
inline absl::string_view HeapWhat(const HeapEvent& event) {
  if (!event.is_free) return "ALLOC";
  switch (event.free_of) {
    case HeapFreeOf::kRange:
      return "UNMAP";
    case HeapFreeOf::kMovedRange:
      return "MOVE";
    default:
      return "FREE";
  }
}

// The cells that only heap events have. A free has its address; an unmapped
// range also has its size.
template <typename Style>
void AppendOwnHeapCell(const Style& style, Column column, const RunView& run,
                       const HeapEvent& event, double weight,
                       std::string* out) {
  if (column == Column::kAddress) {
    return style.TextCell(column, absl::StrCat("0x", absl::Hex(event.address)),
                          out);
  }
  if (event.free_of != HeapFreeOf::kBlock && column == Column::kSize) {
    return style.SizeCell(column, event.size, out);
  }
  if (event.is_free) return style.EmptyCell(column, out);
  switch (column) {
    case Column::kSize:
      return style.SizeCell(column, event.size, out);
    case Column::kAllocator:
      return style.TextCell(column, HeapAllocatorName(event.allocator), out);
    case Column::kWeight:
      // It has the weight of what was moved.
      if (event.allocator == HEAP_MREMAP) return style.EmptyCell(column, out);
      return style.DecimalCell(column, weight, out);
    case Column::kCallerModule:
      if (event.code == 0) return style.EmptyCell(column, out);
      return style.TextCell(column, run.index->MappingName(event.code), out);
    default:
      return style.EmptyCell(column, out);
  }
}

// `place` is that of an allocation's stack. Cells that a heap event lacks are
// empty.
template <typename Style>
void AppendHeapCell(double weight, const Style& style, Column column,
                    const RunView& run, const HeapEvent& event,
                    const SourceLocation& place, std::string* out) {
  AppendEventCell(
      style, column, run,
      {"HEAP", HeapWhat(event), event.time_us, event.thread, event.stack,
       event.is_free ? nullptr : &place},
      [&] { AppendOwnHeapCell(style, column, run, event, weight, out); }, out);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_SIDE_CELLS_H_
