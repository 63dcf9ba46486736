// The cells that marks, page events and heap events share: time, thread and
// place. A Style formats them, see row_plan.h.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_EVENT_CELLS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_EVENT_CELLS_H_

#include <string>

#include "readers/replay/rows/row_writer.h"
#include "text/number_format.h"

namespace pymemrun {

// What the shared cells need of an event.
struct EventFacts {
  absl::string_view context;  // the text of kContext
  absl::string_view what;
  uint64_t time_us;
  uint32_t thread;
  uint32_t stack;
  const SourceLocation* place;  // of the stack; null: none
};

// The cell of a place; `function` is the name to print for kFunction.
template <typename Style>
void AppendPlaceCell(const Style& style, Column column,
                     const SourceLocation& place, absl::string_view function,
                     std::string* out) {
  switch (column) {
    case Column::kFile:
      return style.TextCell(column, place.file, out);
    case Column::kLine:
      return style.NumberCell(column, place.line, out);
    case Column::kFunction:
      return style.TextCell(column, function, out);
    default:
      return style.TextCell(column, place.module, out);
  }
}

// `own()` appends the cell of a column that only this kind of event has.
template <typename Style, typename Own>
void AppendEventCell(const Style& style, Column column, const RunView& run,
                     const EventFacts& facts, const Own& own,
                     std::string* out) {
  char text[kMaxNumberWidth];
  switch (column) {
    case Column::kContext:
      return style.ExtraContext(facts.context, out);
    case Column::kClock:
      out->append(text, style.Clock(facts.time_us, text) - text);
      return;
    case Column::kUnixTime:
      out->append(text,
                  style.Clock(run.start_unix_us + facts.time_us, text) - text);
      return;
    case Column::kWhat:
      return style.TextCell(column, facts.what, out);
    case Column::kThread:
      return style.TextCell(column, run.index->ThreadLabel(facts.thread), out);
    case Column::kPid:
      return style.NumberCell(column, run.pid, out);
    case Column::kFile:
    case Column::kLine:
    case Column::kFunction:
    case Column::kModule:
      if (facts.place == nullptr) return style.EmptyCell(column, out);
      return AppendPlaceCell(style, column, *facts.place,
                             facts.place->code_name, out);
    case Column::kStack:
      if (facts.place == nullptr) return style.EmptyCell(column, out);
      return style.TextCell(
          column, run.index->StackText(facts.stack, &run.stacks), out);
    default:
      return own();
  }
}

// A mark has no place; its label is printed in the column Style::kMarkLabel.
template <typename Style>
void AppendMarkCell(const Style& style, Column column, const RunView& run,
                    const Mark& mark, std::string* out) {
  if (column == Style::kMarkLabel) {
    return style.TextCell(column, mark.label(), out);
  }
  char text[kMaxNumberWidth];
  const auto own = [&] {
    if (column == Column::kEvent) {
      out->append(text, style.Event(mark.next_number(), text) - text);
    } else if (column == Column::kRss) {
      out->append(text, style.Rss(run.NetRss(mark.rss_bytes()), text) - text);
    } else {
      style.EmptyCell(column, out);
    }
  };
  AppendEventCell(style, column, run,
                  {"MARK", "MARK", mark.time_us(), mark.thread(), 0, nullptr},
                  own, out);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_EVENT_CELLS_H_
