// A table's columns, each with what makes its cells.
#ifndef PYMEMRUN_READERS_OUTPUT_TABLE_COLUMNS_H_
#define PYMEMRUN_READERS_OUTPUT_TABLE_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "readers/output/table.h"

namespace pymemrun {

// Columns over rows of one type. What their cells refer to must outlive them.
// Not thread safe.
template <typename Row>
class TableColumns {
 public:
  using CellOf = std::function<Cell(const Row&)>;
  struct Column {
    std::string name, title;  // see Table::Heading
    CellLook look;
    CellOf cell;
  };

  TableColumns() = default;
  TableColumns(std::initializer_list<Column> columns) {
    for (const Column& column : columns) {
      Add(column.name, column.title, column.look, column.cell);
    }
  }
  void Add(std::string name, std::string title, CellLook look, CellOf cell) {
    headings_.push_back({std::move(name), std::move(title), look});
    cells_.push_back(std::move(cell));
  }
  void Add(std::string name, std::string title, CellOf cell) {
    Add(std::move(name), std::move(title), CellLook::kPlain, std::move(cell));
  }
  // For machines alone.
  void Add(std::string name, CellOf cell) {
    Add(std::move(name), "", std::move(cell));
  }

  void Append(const TableColumns& more) {
    headings_.insert(headings_.end(), more.headings_.begin(),
                     more.headings_.end());
    cells_.insert(cells_.end(), more.cells_.begin(), more.cells_.end());
  }

  const std::vector<Table::Heading>& headings() const { return headings_; }
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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TABLE_COLUMNS_H_
