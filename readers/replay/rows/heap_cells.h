// The cells of a printed heap event, as a Style (see row_plan.h) has them.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_HEAP_CELLS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_HEAP_CELLS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/rows/event_cells.h"
#include "readers/replay/rows/row_writer.h"

namespace pymemrun {

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

// What heap events alone have; a free has its address, that of a range also its
// size.
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
      // It has that of what it moved.
      if (event.allocator == HEAP_MREMAP) return style.EmptyCell(column, out);
      return style.DecimalCell(column, weight, out);
    case Column::kCallerModule:
      if (event.code == 0) return style.EmptyCell(column, out);
      return style.TextCell(column, run.index->MappingName(event.code), out);
    default:
      return style.EmptyCell(column, out);
  }
}

// `place` is that of an allocation's stack. What a heap event has not is empty.
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

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_HEAP_CELLS_H_
