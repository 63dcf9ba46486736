// How the columns of a row become steps, which the row writers' engine runs.
//
// Neighbouring columns that depend only on the site, or only on the thread,
// become one step whose text is cached; numbers are steps of their own.
// A Style says how a cell looks in its format:
//
//   void Before(Column column, const Column* previous, string* out) const;
//   void TextCell(Column column, string_view name, string* out) const;
//   void NumberCell(Column column, uint64_t value, string* out) const;
//   char* Event(uint64_t number, char* out) const;
//   // likewise Devent, Clock, Rss, Drss, Context, Exact
//   void DigitsCell(Column column, string_view digits, string* out) const;
//   void EmptyCell(Column column, string* out) const;
//   void SizeCell(Column column, uint64_t bytes, string* out) const;
//   void DecimalCell(Column column, double value, string* out) const;
//   // The context of a line that is not a row: `label` is MARK, PAGE or HEAP.
//   void ExtraContext(string_view label, string* out) const;
//   void Header(const vector<Column>& columns, OutputBuffer* out) const;
//   static constexpr string_view kRowStart, kRowEnd;
//   static constexpr Column kMarkLabel;  // where a mark's label stands
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_ROW_PLAN_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_ROW_PLAN_H_

#include <string>
#include <utility>
#include <vector>

#include "readers/replay/rows/event_cells.h"
#include "readers/replay/rows/row_writer.h"
#include "readers/replay/rows/text_cache.h"

namespace pymemrun {

enum class RowContext : uint8_t { kNone, kNext, kPrevious };

// One step of a row: a cached text, a number, or text that is always the same.
struct RowStep {
  enum Kind : uint8_t {
    kSite,
    kThread,
    kStack,
    kNumber,
    kThreadDrss,
    kCall,
    kEmpty
  };
  Kind kind;
  Column number;       // kNumber, kCall
  std::string before;  // the text before the cell; kEmpty: with the cell
  // kThreadDrss, kCall: the text with a cell of 0, and with an unknown one.
  std::string zero, none;
  // Each with the text before it.
  std::vector<std::pair<Column, std::string>> cells;
  TextCache cache;
};

// The kind of step that a column needs.
inline RowStep::Kind StepKindOf(Column column) {
  switch (column) {
    case Column::kWhat:
    case Column::kFile:
    case Column::kLine:
    case Column::kFunction:
    case Column::kModule:
      return RowStep::kSite;
    case Column::kThread:
    case Column::kPid:
      return RowStep::kThread;
    case Column::kStack:
      return RowStep::kStack;
    case Column::kThreadDrss:
      return RowStep::kThreadDrss;
    default:
      if (column < kFirstPageColumn) return RowStep::kNumber;
      return column < kFirstCallColumn || column >= kFirstGilColumn
                 ? RowStep::kEmpty
                 : RowStep::kCall;
  }
}

template <typename Style>
std::vector<RowStep> MakeRowPlan(const Style& style,
                                 const std::vector<Column>& columns) {
  std::vector<RowStep> steps;
  const Column* previous = nullptr;
  for (const Column& column : columns) {
    const auto kind = StepKindOf(column);
    const bool alone = kind >= RowStep::kNumber;
    if (alone || steps.empty() || steps.back().kind != kind) {
      steps.push_back({kind, column, {}, {}, {}, {}, {}});
    }
    std::string before;
    style.Before(column, previous, &before);
    if (kind == RowStep::kEmpty) style.EmptyCell(column, &before);
    if (alone) {
      steps.back().before = before;
      steps.back().none = before;
      style.EmptyCell(column, &steps.back().none);
      char zero[kMaxNumberWidth];
      steps.back().zero = before;
      steps.back().zero.append(zero, style.Drss(0, zero) - zero);
    } else {
      steps.back().cells.emplace_back(column, before);
    }
    previous = &column;
  }
  return steps;
}

// The text of a kSite step.
template <typename Style>
void RenderSite(const Style& style, const RowStep& step, const RunView& run,
                uint32_t site, std::string* out) {
  const SourceLocation place = run.index->Resolve(site);
  for (const auto& [column, before] : step.cells) {
    *out += before;
    if (column == Column::kWhat) {
      style.TextCell(column, place.what, out);
    } else {
      AppendPlaceCell(style, column, place, place.function, out);
    }
  }
}

// The text of a kThread step.
template <typename Style>
void RenderThread(const Style& style, const RowStep& step, const RunView& run,
                  uint32_t thread, std::string* out) {
  for (const auto& [column, before] : step.cells) {
    *out += before;
    if (column == Column::kPid) {
      style.NumberCell(column, run.pid, out);
    } else {
      style.TextCell(column, run.index->ThreadLabel(thread), out);
    }
  }
}

// The text of a kStack step.
template <typename Style>
void RenderStack(const Style& style, const RowStep& step, const RunView& run,
                 uint32_t stack, std::string* out) {
  for (const auto& [column, before] : step.cells) {
    *out += before;
    style.TextCell(column, run.index->StackText(stack, &run.stacks), out);
  }
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_ROW_PLAN_H_
