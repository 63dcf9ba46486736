// The cells of a printed heap event, as a Style (see row_plan.h) has them.
#ifndef PYMEMRUN_READERS_HEAP_CELLS_H_
#define PYMEMRUN_READERS_HEAP_CELLS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "readers/heap_places.h"
#include "readers/number_format.h"
#include "readers/row_writer.h"

namespace pymemrun {

// What an allocation has and a free has not.
template <typename Style>
void AppendAllocationCell(const Style& style, Column column, const RunView& run,
                          const HeapEvent& event, double weight,
                          const Place& place, std::string* out) {
  if (event.is_free) return style.EmptyCell(column, out);
  switch (column) {
    case Column::kFile:
      return style.TextCell(column, place.file, out);
    case Column::kLine:
      return style.NumberCell(column, place.line, out);
    case Column::kFunction:
      return style.TextCell(column, place.code_name, out);
    case Column::kModule:
      return style.TextCell(column, place.module, out);
    case Column::kStack:
      return style.TextCell(column, run.index->StackText(event.stack), out);
    case Column::kSize:
      return style.SizeCell(column, event.size, out);
    case Column::kAllocator:
      return style.TextCell(column, HeapAllocatorName(event.allocator), out);
    case Column::kWeight:
      return style.DecimalCell(column, weight, out);
    default:
      return style.EmptyCell(column, out);
  }
}

// `place` is that of an allocation's stack. What a heap event has not is empty.
template <typename Style>
void AppendHeapCell(const Style& style, Column column, const RunView& run,
                    const HeapEvent& event, double weight, const Place& place,
                    std::string* out) {
  char text[kMaxNumberWidth];
  switch (column) {
    case Column::kContext:
      return style.ExtraContext("HEAP", out);
    case Column::kClock:
      out->append(text, style.Clock(event.time_us, text) - text);
      return;
    case Column::kWhat:
      return style.TextCell(column, event.is_free ? "FREE" : "ALLOC", out);
    case Column::kThread:
      return style.TextCell(column, run.index->ThreadLabel(event.thread), out);
    case Column::kPid:
      return style.NumberCell(column, run.pid, out);
    case Column::kAddress:
      return style.TextCell(column,
                            absl::StrCat("0x", absl::Hex(event.address)), out);
    default:
      return AppendAllocationCell(style, column, run, event, weight, place,
                                  out);
  }
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_CELLS_H_
