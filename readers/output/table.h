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

// An unknown cell is std::monostate: empty in CSV, null in JSON, "-" in text.
// Strings are bytes from the file; printing escapes them. A double has six
// decimals. An ExactNumber has as many as are needed to read back the same
// value.
struct ExactNumber {
  double value;
  bool operator==(const ExactNumber&) const = default;
};
using Cell = std::variant<std::monostate, std::string, int64_t, uint64_t,
                          double, ExactNumber>;

// How a column looks in text. kKey: a name that identifies the row, and is the
// first column in text.
enum class CellLook { kPlain, kBytes, kShare, kName, kKey };

// Rows of cells below headings. Reports build one, and PrintTable() prints it.
struct Table {
  struct Heading {
    std::string name;   // as in CSV and JSON
    std::string title;  // as in text
    CellLook look = CellLook::kPlain;
  };
  std::vector<Heading> headings;
  std::vector<std::vector<Cell>> rows;  // each as long as `headings`
  // The number of rows that are places. They come first; sums and rests follow.
  size_t places = 0;
};

// A table with a row for each moment; its first column is the time.
Table MomentTable(const std::vector<uint64_t>& time_us, std::string title = "");
// Adds a column; `values` has a value for each row.
template <typename Values>
void AddColumn(Table::Heading heading, const Values& values, Table* table) {
  table->headings.push_back(std::move(heading));
  for (size_t i = 0; i < values.size(); ++i) {
    table->rows[i].emplace_back(values[i]);
  }
}

// Removes columns without any known cell, except the first one.
void DropEmptyColumns(Table* table);

enum class TableFormat { kText, kCsv, kJson };

// Text: see text_table.h; it fits the output's terminal. CSV: as pymemcat
// writes it. JSON: an array with an object for each row.
void PrintTable(const Table& table, TableFormat format, OutputBuffer* output);
// To be called after the reports of several runs: see OutputBuffer::Runs.
void EndTables(OutputBuffer* output);

// A cell as in CSV and text, unless it is a string. Sizes are plain numbers.
std::string PlainCell(const Cell& cell);
// One cell as JSON.
void AppendJsonCell(const Cell& cell, std::string* out);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TABLE_H_
