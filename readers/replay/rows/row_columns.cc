#include "readers/replay/rows/row_columns.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// By Column.
constexpr absl::string_view kNames[kColumns] = {
    "event",
    "devent",
    "clock_s",
    "what",
    "file",
    "line",
    "function",
    "rss_bytes",
    "drss_bytes",
    "thread",
    "pid",
    "context",
    "module",
    "rss_exact",
    "stack",
    "unix_s",
    "page_address",
    "action",
    "pages",
    "moved_to",
    "inferred",
    "instruction_module",
    "address",
    "size_bytes",
    "allocator",
    "weight",
    "caller_module",
    "call_event",
    "call_s",
    "call_drss_bytes",
    "call_thread_drss_bytes",
    "gil",
    "gil_free_s",
    "gil_pauses",
    "gil_paused_s",
    "gil_by",
    "thread_drss_bytes",
};

// Appends the columns of extra records. Groups follow each other in Column;
// kWeight and kAction are shared by two kinds of events.
void AppendExtra(ExtraRecords extra, std::vector<Column>* columns) {
  for (int i = static_cast<int>(kFirstPageColumn);
       i < static_cast<int>(Column::kThreadDrss); ++i) {
    const auto column = static_cast<Column>(i);
    const bool of_both = column == Column::kWeight;
    const bool of_pages = column < kFirstHeapColumn || of_both;
    const bool of_gil = column >= kFirstGilColumn || column == Column::kAction;
    const bool of_calls =
        column >= kFirstCallColumn && column < kFirstGilColumn;
    const bool of_heap =
        column >= kFirstHeapColumn && column < kFirstCallColumn;
    if ((extra.pages && of_pages) || (extra.heap && of_heap) ||
        (extra.calls && of_calls) || (extra.gil && of_gil)) {
      columns->push_back(column);
    }
  }
}

}  // namespace

absl::string_view ColumnName(Column column) {
  return kNames[static_cast<int>(column)];
}

absl::StatusOr<std::vector<Column>> ParseColumns(absl::string_view list) {
  std::vector<Column> columns;
  for (absl::string_view name : absl::StrSplit(list, ',')) {
    const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", TerminalText(name), "' is not a column; the columns are ",
          absl::StrJoin(kNames, ",")));
    }
    const auto column = static_cast<Column>(found - std::begin(kNames));
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("column '", name, "' is given twice"));
    }
    columns.push_back(column);
  }
  return columns;
}

// The columns before kStack, in the order of Column, then the optional ones.
std::vector<Column> MachineColumns(ExtraRecords extra) {
  std::vector<Column> columns;
  for (int i = 0; i < static_cast<int>(Column::kStack); ++i) {
    columns.push_back(static_cast<Column>(i));
  }
  AppendExtra(extra, &columns);
  columns.push_back(Column::kThreadDrss);
  return columns;
}

// Fewer columns than for machines, in the order in which people read a line.
std::vector<Column> TextColumns(bool with_context, bool with_pid,
                                ExtraRecords extra) {
  std::vector<Column> columns;
  for (const Column column :
       {Column::kContext, Column::kEvent, Column::kDevent, Column::kClock,
        Column::kPid, Column::kWhat, Column::kFile, Column::kLine,
        Column::kFunction, Column::kRss, Column::kDrss}) {
    if (column == Column::kContext && !with_context) continue;
    if (column == Column::kPid && !with_pid) continue;
    columns.push_back(column);
  }
  extra.calls = false;  // people have `pymemreport calls`
  AppendExtra(extra, &columns);
  return columns;
}

}  // namespace pymemrun
