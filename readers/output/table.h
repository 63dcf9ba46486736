// A table of a report as text, CSV or JSON.
#ifndef PYMEMRUN_READERS_OUTPUT_TABLE_H_
#define PYMEMRUN_READERS_OUTPUT_TABLE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "readers/output/output_buffer.h"

namespace pymemrun {

// A cell that is not known is std::monostate: empty in CSV, null in JSON, "-"
// in text. Strings are bytes from the file, escaped by the printing.
// A double has six decimals, an ExactNumber as many as read back as the same.
struct ExactNumber {
  double value;
  bool operator==(const ExactNumber&) const = default;
};
using Cell = std::variant<std::monostate, std::string, int64_t, uint64_t,
                          double, ExactNumber>;

// How a column looks in text. kKey: a name that says what a row is; in text it
// is the first column.
enum class CellLook { kPlain, kBytes, kShare, kName, kKey };

struct Table {
  struct Heading {
    std::string name;   // as in CSV and JSON
    std::string title;  // as in text
    CellLook look = CellLook::kPlain;
  };
  std::vector<Heading> headings;
  std::vector<std::vector<Cell>> rows;  // each as long as `headings`
  // So many rows are places, the first ones; sums and rests come behind.
  size_t places = 0;
};

// A table with a row for each moment, whose first column is the time.
Table MomentTable(const std::vector<uint64_t>& time_us, std::string title = "");
// Adds a column; `values` has one for each row.
template <typename Values>
void AddColumn(Table::Heading heading, const Values& values, Table* table) {
  table->headings.push_back(std::move(heading));
  for (size_t i = 0; i < values.size(); ++i) {
    table->rows[i].emplace_back(values[i]);
  }
}

// Takes away columns without any known cell, but not the first.
void DropEmptyColumns(Table* table);

enum class TableFormat { kText, kCsv, kJson };

// Text as text_table.h says, for the terminal of the output. CSV as pymemcat
// writes it. JSON: an array of objects, one for each row.
void PrintTable(const Table& table, TableFormat format, OutputBuffer* output);
// To be called after the reports of several runs: see OutputBuffer::Runs.
void EndTables(OutputBuffer* output);

// One cell as CSV and text have it, if it is no string: sizes as plain numbers.
std::string PlainCell(const Cell& cell);
// One cell as JSON.
void AppendJsonCell(const Cell& cell, std::string* out);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TABLE_H_
