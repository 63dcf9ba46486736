// Rows as CSV, see row_writer.h.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/replay/rows/machine_cells.h"
#include "readers/replay/rows/plan_writer.h"
#include "text/escape.h"

namespace pymemrun {
namespace {

struct CsvStyle : MachineCells<CsvStyle> {
  static constexpr absl::string_view kRowStart = "";
  static constexpr absl::string_view kRowEnd = "\r\n";

  explicit CsvStyle(bool guard) : guard(guard) {}

  void Before(Column, const Column* previous, std::string* out) const {
    if (previous != nullptr) *out += ',';
  }
  void TextCell(Column, absl::string_view name, std::string* out) const {
    AppendCsvCell(name, guard, out);
  }
  void EmptyCell(Column, std::string*) const {}

  // "NEXT" is a logged row, "PREV" the context of one.
  char* Context(RowContext context, char* out) const {
    if (context == RowContext::kNone) return out;
    std::memcpy(out, context == RowContext::kNext ? "NEXT" : "PREV", 4);
    return out + 4;
  }

  void Header(const std::vector<Column>& columns, OutputBuffer* out) const {
    std::string line;
    for (const Column column : columns) {
      absl::StrAppend(&line, line.empty() ? "" : ",", ColumnName(column));
    }
    absl::StrAppend(&line, kRowEnd);
    out->Append(line);
  }

  const bool guard;
};

}  // namespace

std::unique_ptr<RowWriter> NewCsvWriter(const RowWriter::Options& options,
                                        OutputBuffer* output) {
  return std::make_unique<PlanWriter<CsvStyle>>(
      CsvStyle(!options.raw_text),
      options.columns.empty() ? MachineColumns(options.extra) : options.columns,
      options.with_header, /*adds_thread=*/false, output);
}

}  // namespace pymemrun
