// The cells of a printed event of the GIL, as a Style (see row_plan.h) has
// them.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_GIL_CELLS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_GIL_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "format/gil/gil_event.h"
#include "readers/replay/rows/event_cells.h"
#include "readers/replay/rows/row_writer.h"

namespace pymemrun {

// "taken", "waiting", ...
inline absl::string_view GilActionName(GilAction action) {
  static constexpr absl::string_view kNames[] = {
      "taken",        "waiting", "giving_way",   "gave_way",      "waiter",
      "holder",       "left",    "state",        "lock_waiting",  "lock_taken",
      "stands_still", "goes_on", "stops_others", "others_stopped"};
  const auto index = static_cast<size_t>(action);
  return index < std::size(kNames) ? kNames[index] : "?";
}

// What events of the GIL alone have.
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

// `place` is that of the event's stack, if it has one.
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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_GIL_CELLS_H_
