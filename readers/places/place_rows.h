// Tables of places: sums by place, the largest first, the rest as one row.
#ifndef PYMEMRUN_READERS_PLACES_PLACE_ROWS_H_
#define PYMEMRUN_READERS_PLACES_PLACE_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/output/table.h"
#include "readers/output/table_columns.h"
#include "readers/places/place.h"

namespace pymemrun {

// The row of the place with this number in a table of places; each new one
// begins empty. A `Row` begins with its `place`.
template <typename Row, typename Places>
Row& RowOfPlace(size_t number, const Places& places, std::vector<Row>* rows) {
  while (rows->size() <= number) rows->push_back({places[rows->size()]});
  return (*rows)[number];
}

// Puts the rows with the largest size(row) first, those of one size by place,
// and keeps `limit` of them (0: all). Returns the sum of the others by
// Row::Add().
template <typename Row, typename Size>
Row KeepTop(uint64_t limit, Size size, std::vector<Row>* rows) {
  std::sort(rows->begin(), rows->end(), [&size](const Row& a, const Row& b) {
    const auto x = size(a), y = size(b);
    return x != y ? x > y : a.place < b.place;
  });
  Row rest{};
  if (limit == 0 || rows->size() <= limit) return rest;
  for (size_t i = limit; i < rows->size(); ++i) rest.Add((*rows)[i]);
  rows->erase(rows->begin() + static_cast<ptrdiff_t>(limit), rows->end());
  return rest;
}

// A table of places and, below them, of what has a name instead.
template <typename Row>
class PlaceTableMaker {
 public:
  PlaceTableMaker(GroupBy by, TableColumns<Row> columns)
      : by_(by), columns_(std::move(columns)) {
    table_.headings = PlaceHeadings(by);
    columns_.AppendHeadings(&table_.headings);
  }
  // `cells`: of the columns that name the place.
  void Add(std::vector<Cell> cells, const Row& row) {
    columns_.AppendCells(row, &cells);
    table_.rows.push_back(std::move(cells));
  }
  void AddPlaces(const std::vector<Row>& rows) {
    for (const Row& row : rows) Add(PlaceCells(by_, row.place), row);
    EndPlaces();
  }
  // What was added are the table's places.
  void EndPlaces() { table_.places = table_.rows.size(); }
  void AddNamed(absl::string_view name, const Row& row) {
    Add(NameCells(by_, name), row);
  }
  // The same, unless Row::IsNothing().
  void AddRest(absl::string_view name, const Row& row) {
    if (!row.IsNothing()) AddNamed(name, row);
  }
  Table Take() { return std::move(table_); }

 private:
  const GroupBy by_;
  const TableColumns<Row> columns_;
  Table table_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_PLACE_ROWS_H_
