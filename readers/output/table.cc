#include "readers/output/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "text/escape.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// One long name does not make each row as long.
constexpr size_t kMostWidth = 1000;

bool IsText(const Cell& cell) {
  return std::holds_alternative<std::string>(cell);
}

double NumberOf(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  if (const auto* whole = std::get_if<uint64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  return std::get<double>(cell);
}

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
  return "";
}

std::string TextOf(const Cell& cell, CellLook look) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (IsText(cell)) return TerminalText(std::get<std::string>(cell));
  if (look == CellLook::kBytes) return HumanBytes(NumberOf(cell));
  if (look == CellLook::kShare) {
    return absl::StrFormat("%.1f %%", 100 * NumberOf(cell));
  }
  return PlainCell(cell);
}

void PrintCsv(const Table& table, OutputBuffer* output) {
  std::string line;
  for (const auto& heading : table.headings) {
    if (!line.empty()) line += ',';
    AppendCsvCell(heading.name, /*guard=*/true, &line);
  }
  output->Append(line + "\r\n");
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

void PrintJson(const Table& table, OutputBuffer* output) {
  output->Append("[");
  for (size_t r = 0; r < table.rows.size(); ++r) {
    std::string line = r == 0 ? "\n  {" : ",\n  {";
    for (size_t i = 0; i < table.headings.size(); ++i) {
      if (i > 0) line += ", ";
      AppendJsonString(table.headings[i].name, &line);
      line += ": ";
      AppendJsonCell(table.rows[r][i], &line);
    }
    output->Append(line + "}");
  }
  output->Append("\n]\n");
}

void PrintText(const Table& table, OutputBuffer* output) {
  std::vector<size_t> order;
  for (size_t i = 0; i < table.headings.size(); ++i) order.push_back(i);
  const auto names = std::stable_partition(
      order.begin(), order.end(),
      [&table](size_t i) { return table.headings[i].look != CellLook::kName; });
  const size_t numbers = names - order.begin();
  std::vector<std::string> lines(table.rows.size() + 1);
  for (size_t at = 0; at < order.size(); ++at) {
    const size_t i = order[at];
    const auto& heading = table.headings[i];
    std::vector<std::string> cells = {heading.title};
    for (const auto& row : table.rows) {
      cells.push_back(TextOf(row[i], heading.look));
    }
    size_t width = 0;
    for (const auto& cell : cells) {
      width = std::max(width, std::min(ColumnsOf(cell), kMostWidth));
    }
    const bool last = at + 1 == order.size();
    for (size_t r = 0; r < cells.size(); ++r) {
      const std::string space(width - std::min(width, ColumnsOf(cells[r])),
                              ' ');
      absl::StrAppend(&lines[r], at == 0 ? "" : "  ", at < numbers ? space : "",
                      cells[r], at < numbers || last ? "" : space);
    }
  }
  for (const auto& line : lines) output->Append(line + "\n");
}

}  // namespace

Table MomentTable(const std::vector<uint64_t>& time_us, std::string title) {
  Table table;
  table.headings = {{"time_s", std::move(title)}};
  for (const uint64_t us : time_us) {
    table.rows.push_back({static_cast<double>(us) / 1e6});
  }
  return table;
}

void AppendJsonCell(const Cell& cell, std::string* out) {
  if (IsText(cell)) {
    AppendJsonString(std::get<std::string>(cell), out);
  } else if (std::holds_alternative<std::monostate>(cell)) {
    *out += "null";
  } else {
    *out += PlainCell(cell);
  }
}

void PrintTable(const Table& table, TableFormat format, OutputBuffer* output) {
  switch (format) {
    case TableFormat::kText:
      return PrintText(table, output);
    case TableFormat::kCsv:
      return PrintCsv(table, output);
    case TableFormat::kJson:
      return PrintJson(table, output);
  }
}

}  // namespace pymemrun
