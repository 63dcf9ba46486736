#include "readers/output/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/output/table_columns.h"
#include "readers/output/text_table.h"
#include "text/escape.h"

namespace pymemrun {
namespace {

bool IsText(const Cell& cell) {
  return std::holds_alternative<std::string>(cell);
}

// Whether JSON can express the number: not if it is infinite or NaN.
bool HasNumber(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell))
    return std::isfinite(*real);
  if (const auto* exact = std::get_if<ExactNumber>(&cell)) {
    return std::isfinite(exact->value);
  }
  return !std::holds_alternative<std::monostate>(cell);
}

// The table with a column for the run's name.
Table WithRun(Table table, const std::string& run) {
  table.headings.push_back({"run"});
  for (auto& row : table.rows) row.emplace_back(run);
  return table;
}

// Lines end as in RFC 4180, the standard of CSV.
void PrintCsv(const Table& table, bool is_first, OutputBuffer* output) {
  std::string line;
  for (const auto& heading : table.headings) {
    if (!line.empty()) line += ',';
    AppendCsvCell(heading.name, /*guard=*/true, &line);
  }
  if (is_first) output->Append(line + "\r\n");
  for (const auto& row : table.rows) {
    line.clear();
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += ',';
      if (IsText(row[i])) {
        AppendCsvCell(std::get<std::string>(row[i]), /*guard=*/true, &line);
      } else {
        line += PlainCell(row[i]);
      }
    }
    output->Append(line + "\r\n");
  }
}

// Prints only the rows; `before`: how many were printed before.
void PrintJson(const Table& table, size_t before, OutputBuffer* output) {
  for (size_t r = 0; r < table.rows.size(); ++r) {
    std::string line = before + r == 0 ? "\n  {" : ",\n  {";
    for (size_t i = 0; i < table.headings.size(); ++i) {
      if (i > 0) line += ", ";
      AppendJsonString(table.headings[i].name, &line);
      line += ": ";
      AppendJsonCell(table.rows[r][i], &line);
    }
    output->Append(line + "}");
  }
}

}  // namespace

// From the right, so that indexes of columns still to come stay valid. The
// first column stays.
void DropEmptyColumns(Table* table) {
  for (size_t i = table->headings.size(); i-- > 1;) {
    const bool is_known = std::any_of(
        table->rows.begin(), table->rows.end(), [i](const auto& row) {
          return !std::holds_alternative<std::monostate>(row[i]);
        });
    if (is_known) continue;
    table->headings.erase(table->headings.begin() + i);
    for (auto& row : table->rows) row.erase(row.begin() + i);
  }
}

Table MomentTable(const std::vector<uint64_t>& time_us, std::string title) {
  Table table;
  table.headings = {{"time_s", std::move(title)}};
  for (const uint64_t us : time_us) {
    table.rows.push_back({static_cast<double>(us) / 1e6});
  }
  return table;
}

// std::to_chars() writes the fewest digits that read back as the same value.
std::string PlainCell(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) {
    return absl::StrCat(*whole);
  }
  if (const auto* whole = std::get_if<uint64_t>(&cell)) {
    return absl::StrCat(*whole);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return absl::StrFormat("%.6f", *real);
  }
  if (const auto* exact = std::get_if<ExactNumber>(&cell)) {
    char text[32];  // the longest has 24
    return std::string(
        text, std::to_chars(text, text + sizeof(text), exact->value).ptr);
  }
  return "";
}

void AppendJsonCell(const Cell& cell, std::string* out) {
  if (IsText(cell)) {
    AppendJsonString(std::get<std::string>(cell), out);
  } else if (!HasNumber(cell)) {
    *out += "null";
  } else {
    *out += PlainCell(cell);
  }
}

void TableParts::Print(const Table& part) {
  const std::string& run = output_.runs().name;
  run.empty() ? PrintWhole(part) : PrintWhole(WithRun(part, run));
}

// The tables of several runs are one: one header in CSV, one array in JSON.
void TableParts::PrintWhole(const Table& part) {
  OutputBuffer::Runs& runs = output_.runs();
  if (format_ == TableFormat::kCsv) {
    const bool is_first = !std::exchange(has_head_, true) &&
                          (runs.name.empty() || runs.tables++ == 0);
    return PrintCsv(part, is_first, &output_);
  }
  if (!std::exchange(runs.in_array, true)) output_.Append("[");
  PrintJson(part, std::exchange(runs.rows, runs.rows + part.rows.size()),
            &output_);
}

void TableParts::Finish() {
  if (output_.runs().name.empty()) EndTables(&output_);
}

void PrintTable(const Table& table, TableFormat format, OutputBuffer* output) {
  if (format == TableFormat::kText) return PrintTextTable(table, output);
  TableParts parts(format, output);
  parts.Print(table);
  parts.Finish();
}

void EndTables(OutputBuffer* output) {
  OutputBuffer::Runs& runs = output->runs();
  if (std::exchange(runs.in_array, false)) output->Append("\n]\n");
  runs.rows = 0;
}

}  // namespace pymemrun
