// Lines of records that are no rows: marks, page events, heap events. Used by
// PlanWriter.
#ifndef PYMEMRUN_READERS_ROWS_LINE_CELLS_H_
#define PYMEMRUN_READERS_ROWS_LINE_CELLS_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/output/output_buffer.h"
#include "readers/rows/columns.h"

namespace pymemrun {

// Writes one, as a Style (see row_plan.h) has it. `cell` appends each cell.
template <typename Style, typename Cell>
void AppendLine(const Style& style, const std::vector<Column>& columns,
                const Cell& cell, OutputBuffer* output) {
  std::string line(Style::kRowStart);
  const Column* previous = nullptr;
  for (const Column& column : columns) {
    style.Before(column, previous, &line);
    cell(column, &line);
    previous = &column;
  }
  absl::StrAppend(&line, Style::kRowEnd);
  output->Append(line);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ROWS_LINE_CELLS_H_
