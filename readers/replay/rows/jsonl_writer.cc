// Rows as JSON lines, see row_writer.h.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/replay/rows/machine_cells.h"
#include "readers/replay/rows/plan_writer.h"
#include "text/escape.h"

namespace pymemrun {
namespace {

// A cell is a key and a value, so each step's fixed text has the key.
struct JsonlStyle : MachineCells<JsonlStyle> {
  static constexpr absl::string_view kRowStart = "{";
  static constexpr absl::string_view kRowEnd = "}\n";

  void Before(Column column, const Column* previous, std::string* out) const {
    absl::StrAppend(out, previous == nullptr ? "\"" : ",\"", ColumnName(column),
                    "\":");
  }
  void TextCell(Column, absl::string_view name, std::string* out) const {
    AppendJsonString(name, out);
  }
  void EmptyCell(Column, std::string* out) const { *out += "null"; }

  char* Context(RowContext context, char* out) const {
    if (context == RowContext::kNone) {
      std::memcpy(out, "\"\"", 2);
      return out + 2;
    }
    std::memcpy(out, context == RowContext::kNext ? "\"NEXT\"" : "\"PREV\"", 6);
    return out + 6;
  }

  void Header(const std::vector<Column>&, OutputBuffer*) const {}
};

}  // namespace

std::unique_ptr<RowWriter> NewJsonlWriter(const RowWriter::Options& options,
                                          OutputBuffer* output) {
  return std::make_unique<PlanWriter<JsonlStyle>>(
      JsonlStyle(),
      options.columns.empty() ? MachineColumns(options.extra) : options.columns,
      options.with_header, /*adds_thread=*/false, output);
}

}  // namespace pymemrun
