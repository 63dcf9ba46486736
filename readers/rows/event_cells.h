// The cells that page events and heap events share, as a Style (see row_plan.h)
// has them: when, who and where.
#ifndef PYMEMRUN_READERS_ROWS_EVENT_CELLS_H_
#define PYMEMRUN_READERS_ROWS_EVENT_CELLS_H_

#include <string>

#include "readers/rows/row_writer.h"
#include "text/number_format.h"

namespace pymemrun {

struct EventFacts {
  absl::string_view context;  // as the column of that name has it
  absl::string_view what;
  uint64_t time_us;
  uint32_t thread;
  uint32_t stack;
  const SourceLocation* place;  // of the stack; null: the event has no place
};

// The cells of a place.
template <typename Style>
void AppendPlaceCell(const Style& style, Column column, const RunView& run,
                     const EventFacts& facts, std::string* out) {
  if (facts.place == nullptr) return style.EmptyCell(column, out);
  switch (column) {
    case Column::kFile:
      return style.TextCell(column, facts.place->file, out);
    case Column::kLine:
      return style.NumberCell(column, facts.place->line, out);
    case Column::kFunction:
      return style.TextCell(column, facts.place->code_name, out);
    case Column::kModule:
      return style.TextCell(column, facts.place->module, out);
    default:
      return style.TextCell(
          column, run.index->StackText(facts.stack, &run.stacks), out);
  }
}

// `own()` appends the cell of a column that the kinds do not share.
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
    case Column::kStack:
      return AppendPlaceCell(style, column, run, facts, out);
    default:
      return own();
  }
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ROWS_EVENT_CELLS_H_
