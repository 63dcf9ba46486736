// The columns of a table, each with a function that makes its cells.
#ifndef PYMEMRUN_READERS_OUTPUT_TABLE_COLUMNS_H_
#define PYMEMRUN_READERS_OUTPUT_TABLE_COLUMNS_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "readers/output/table.h"
#include "readers/output/whole_number.h"

namespace pymemrun {

// Columns over rows of one type. What the functions refer to must outlive them.
// Not thread safe.
template <typename Row>
class TableColumns {
 public:
  using CellOf = std::function<Cell(const Row&)>;
  // A heading, and the function that makes its cells.
  struct Column {
    Column(std::string name, std::string title, CellLook look, CellOf cell)
        : heading{std::move(name), std::move(title), look},
          cell(std::move(cell)) {}
    Column(std::string name, std::string title, CellOf cell)
        : Column(std::move(name), std::move(title), CellLook::kPlain,
                 std::move(cell)) {}
    // For CSV and JSON only.
    Column(std::string name, CellOf cell)
        : Column(std::move(name), "", std::move(cell)) {}
    Table::Heading heading;
    CellOf cell;
  };

  TableColumns() = default;
  TableColumns(std::initializer_list<Column> columns) {
    for (const Column& column : columns) Add(column);
  }
  void Add(Column column) {
    headings_.push_back(std::move(column.heading));
    cells_.push_back(std::move(column.cell));
  }
  // Takes the arguments of a Column.
  template <typename... Parts>
  void Add(Parts&&... parts) {
    Add(Column(std::forward<Parts>(parts)...));
  }

  // A column of bytes.
  void AddBytes(std::string name, std::string title, CellOf cell) {
    Add(std::move(name), std::move(title), CellLook::kBytes, std::move(cell));
  }
  // part(row) / whole, or 0 if `whole` is 0. A row without a part has no share.
  template <typename Part>
  void AddShare(double whole, Part part) {
    Add("share", "share", CellLook::kShare, [=](const Row& row) -> Cell {
      const std::optional<double> of = part(row);
      if (!of.has_value()) return {};
      return whole > 0 ? *of / whole : 0.0;
    });
  }
  // The square root of variance(row): one standard error. Unknown if that is.
  template <typename Variance>
  void AddError(std::string name, std::string title, Variance variance,
                CellLook look = CellLook::kBytes) {
    Add(std::move(name), std::move(title), look, [=](const Row& row) -> Cell {
      const std::optional<double> of = variance(row);
      return of.has_value() ? Cell(WholeNumber(std::sqrt(*of))) : Cell();
    });
  }

  void Append(const TableColumns& more) {
    more.AppendHeadings(&headings_);
    cells_.insert(cells_.end(), more.cells_.begin(), more.cells_.end());
  }

  void AppendHeadings(std::vector<Table::Heading>* headings) const {
    headings->insert(headings->end(), headings_.begin(), headings_.end());
  }
  void AppendCells(const Row& row, std::vector<Cell>* cells) const {
    for (const CellOf& cell : cells_) cells->push_back(cell(row));
  }
  // A table with a row for each of `rows`, at most `limit` of them (0: all).
  Table Make(const std::vector<Row>& rows, uint64_t limit = 0) const {
    Table table;
    table.headings = headings_;
    for (const Row& row : rows) {
      if (limit != 0 && table.rows.size() == limit) break;
      AppendCells(row, &table.rows.emplace_back());
    }
    table.places = table.rows.size();
    return table;
  }

 private:
  std::vector<Table::Heading> headings_;
  std::vector<CellOf> cells_;
};

// Prints a table for machines in parts, so that millions of rows need not be in
// memory at once. CSV as pymemcat writes it; JSON is an array with an object
// for each row. Not thread safe. The output must outlive it.
class TableParts {
 public:
  // REQUIRES: format is not kText.
  TableParts(TableFormat format, OutputBuffer* output)
      : format_(format), output_(*output) {}
  // Prints the rows of a part. All parts have the same headings. A table
  // without rows is one empty part.
  void Print(const Table& part);
  // To be called after the last part.
  void Finish();

 private:
  void PrintWhole(const Table& part);

  const TableFormat format_;
  OutputBuffer& output_;
  bool has_head_ = false;  // the CSV header was printed
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TABLE_COLUMNS_H_
