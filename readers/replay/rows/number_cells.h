// The numeric cells of a row. A Style formats them, see row_plan.h.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_NUMBER_CELLS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_NUMBER_CELLS_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/replay/rows/row_plan.h"

namespace pymemrun {

// Whether the row was logged, or is the context of a logged one.
inline RowContext ContextOf(const RunView& run, const Row& row) {
  if (!run.with_context) return RowContext::kNone;
  return row.context ? RowContext::kPrevious : RowContext::kNext;
}

// Writes the cell to `out`, which has room for it; returns its end.
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
    case Column::kUnixTime:
      return style.Clock(run.start_unix_us + row.time_us, out);
    case Column::kRss:
      return style.Rss(run.NetRss(row.rss_bytes), out);
    case Column::kDrss:
      return style.Drss(run.NetDrss(row), out);
    case Column::kContext:
      return style.Context(ContextOf(run, row), out);
    default:
      return style.Exact(row.exact, out);
  }
}

// Bytes for one number and the separator before it.
inline constexpr size_t kNumberRoom = 96;

template <typename Style>
void AppendNumber(const Style& style, const RowStep& step, const RunView& run,
                  const Row& row, uint64_t devent, OutputBuffer* output) {
  char* const out = std::copy(step.before.begin(), step.before.end(),
                              output->Reserve(kNumberRoom));
  output->Commit(NumberCellOf(style, step.number, run, row, devent, out));
}

// Most rows have 0, whose text is prepared.
template <typename Style>
void AppendThreadDrss(const Style& style, const RowStep& step,
                      const RunView& run, const Row& row, OutputBuffer* out) {
  if (run.thread_drss == nullptr) return out->Append(step.none);
  const int64_t bytes = run.thread_drss->Take(row);
  if (bytes == 0) return out->Append(step.zero);
  out->Append(step.before);
  out->Commit(style.Drss(bytes, out->Reserve(kMaxNumberWidth)));
}

// The columns of a RETURN's call. Few runs have them, so this is kept out of
// the code for each row.
template <typename Style>
[[gnu::noinline]] void AppendCall(const Style& style, const RowStep& step,
                                  const RunView& run, const Row& row,
                                  OutputBuffer* out) {
  const bool of_thread = step.number == Column::kCallThreadDrss;
  if (row.call_events == 0 || (of_thread && run.thread_drss == nullptr)) {
    return out->Append(step.none);
  }
  std::string cell = step.before;
  if (step.number == Column::kCallEvent) {
    style.DigitsCell(step.number, absl::StrCat(row.number - row.call_events),
                     &cell);
  } else if (step.number == Column::kCallTime) {
    char text[kMaxNumberWidth];
    char* const end = WriteSeconds(row.call_us, text);
    style.DigitsCell(step.number, {text, static_cast<size_t>(end - text)},
                     &cell);
  } else {
    const int64_t bytes =
        of_thread ? run.thread_drss->OfCall(row) : row.call_drss;
    style.DigitsCell(step.number, absl::StrCat(bytes), &cell);
  }
  out->Append(cell);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_NUMBER_CELLS_H_
