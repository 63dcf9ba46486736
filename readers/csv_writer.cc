// Rows as CSV, see row_writer.h.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/escape.h"
#include "readers/plan_writer.h"

namespace pymemrun {
namespace {

struct CsvStyle {
  static constexpr absl::string_view kRowStart = "";
  static constexpr absl::string_view kRowEnd = "\r\n";

  bool guard = true;

  void Before(Column, const Column* previous, std::string* out) const {
    if (previous != nullptr) *out += ',';
  }
  void TextCell(Column, absl::string_view name, std::string* out) const {
    AppendCsvCell(name, guard, out);
  }
  void NumberCell(Column, uint64_t value, std::string* out) const {
    absl::StrAppend(out, value);
  }

  char* Event(uint64_t number, char* out) const {
    return WriteDecimal(number, out);
  }
  char* Devent(uint64_t devent, char* out) const {
    return WriteDecimal(devent, out);
  }
  char* Clock(uint64_t time_us, char* out) const {
    return WriteSeconds(time_us, out);
  }
  char* Rss(uint64_t rss_bytes, char* out) const {
    return WriteDecimal(rss_bytes, out);
  }
  char* Drss(int64_t drss_bytes, char* out) const {
    return WriteDecimal(drss_bytes, out);
  }
  char* Context(RowContext context, char* out) const {
    if (context == RowContext::kNone) return out;
    std::memcpy(out, context == RowContext::kNext ? "NEXT" : "PREV", 4);
    return out + 4;
  }
  char* Exact(bool exact, char* out) const {
    std::memcpy(out, exact ? "true " : "false", 5);
    return out + (exact ? 4 : 5);
  }

  void MarkCell(Column column, const MarkCells& cells, std::string* out) const {
    char text[kMaxNumberWidth];
    switch (column) {
      case Column::kEvent:
        absl::StrAppend(out, cells.mark.next_number());
        return;
      case Column::kClock:
        out->append(text, WriteSeconds(cells.mark.time_us(), text) - text);
        return;
      case Column::kWhat:
        *out += "MARK";
        return;
      case Column::kFunction:
        return AppendCsvCell(cells.mark.label(), guard, out);
      case Column::kRss:
        absl::StrAppend(out, cells.rss_bytes);
        return;
      case Column::kThread:
        return AppendCsvCell(cells.thread, guard, out);
      case Column::kPid:
        absl::StrAppend(out, cells.pid);
        return;
      default:
        return;
    }
  }

  void Header(const std::vector<Column>& columns, OutputBuffer* out) const {
    std::string line;
    for (const Column column : columns) {
      absl::StrAppend(&line, line.empty() ? "" : ",", ColumnName(column));
    }
    absl::StrAppend(&line, kRowEnd);
    out->Append(line);
  }
};

}  // namespace

std::unique_ptr<RowWriter> NewCsvWriter(const RowWriter::Options& options,
                                        OutputBuffer* output) {
  return std::make_unique<PlanWriter<CsvStyle>>(
      CsvStyle{!options.raw_text},
      options.columns.empty() ? AllColumns() : options.columns,
      options.with_header, /*adds_thread=*/false, output);
}

}  // namespace pymemrun
