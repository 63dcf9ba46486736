// The cells of a row that are numbers, as a Style (see row_plan.h) has them.
#ifndef PYMEMRUN_READERS_ROWS_NUMBER_CELLS_H_
#define PYMEMRUN_READERS_ROWS_NUMBER_CELLS_H_

#include <algorithm>
#include <cstdint>

#include "readers/rows/row_plan.h"

namespace pymemrun {

inline RowContext ContextOf(const RunView& run, const Row& row) {
  if (!run.with_context) return RowContext::kNone;
  return row.context ? RowContext::kPrevious : RowContext::kNext;
}

// Writes the cell to `out`, where there is room; returns its end.
template <typename Style>
char* NumberCellOf(const Style& style, Column column, const RunView& run,
                   const Row& row, uint64_t devent, char* out) {
  switch (column) {
    case Column::kEvent:
      return style.Event(row.number, out);
    case Column::kDevent:
      return style.Devent(devent, out);
    case Column::kClock:
      return style.Clock(row.time_us, out);
    case Column::kRss:
      return style.Rss(run.NetRss(row.rss_bytes), out);
    case Column::kDrss:
      return style.Drss(run.NetDrss(row), out);
    case Column::kContext:
      return style.Context(ContextOf(run, row), out);
    case Column::kExact:
      return style.Exact(row.exact, out);
    default:
      break;
  }
  if (row.call_events == 0) return style.Unknown(column, out);
  switch (column) {
    case Column::kCallEvent:
      return style.Event(row.number - row.call_events, out);
    case Column::kCallTime:
      return style.Clock(row.call_us, out);
    default:
      return style.Drss(row.call_drss, out);
  }
}

// Room for one number with what stands before it.
inline constexpr size_t kNumberRoom = 96;

template <typename Style>
void AppendNumber(const Style& style, const RowStep& step, const RunView& run,
                  const Row& row, uint64_t devent, OutputBuffer* output) {
  char* const out = std::copy(step.before.begin(), step.before.end(),
                              output->Reserve(kNumberRoom));
  output->Commit(NumberCellOf(style, step.number, run, row, devent, out));
}

// Mostly it is 0.
template <typename Style>
void AppendThreadDrss(const Style& style, const RowStep& step,
                      const RunView& run, const Row& row, OutputBuffer* out) {
  if (run.thread_drss == nullptr) return out->Append(step.none);
  const int64_t bytes = run.thread_drss->Take(row);
  if (bytes == 0) return out->Append(step.zero);
  out->Append(step.before);
  out->Commit(style.Drss(bytes, out->Reserve(kMaxNumberWidth)));
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ROWS_NUMBER_CELLS_H_
