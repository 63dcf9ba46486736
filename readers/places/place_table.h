// Which place bytes are charged to, and one table of numbered places. Used by
// whatever sums up bytes by place.
#ifndef PYMEMRUN_READERS_PLACES_PLACE_TABLE_H_
#define PYMEMRUN_READERS_PLACES_PLACE_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "readers/output/table.h"
#include "readers/output/table_columns.h"
#include "readers/places/place.h"
#include "readers/run/frame_budget.h"

namespace pymemrun {

// Memory that is part of no file and has no name.
inline constexpr absl::string_view kAnonymous = "<anonymous>";

// Who holds bytes, as ids of the run file. Each report uses some of the fields.
struct Origin {
  uint32_t stack = 0;
  uint32_t thread = 0;
  uint32_t mapping = 0;               // what the memory is part of
  uint32_t module = 0;                // the mapping whose code asked for it
  absl::string_view no_module = "?";  // the name of module 0
  absl::string_view allocator = {};
  absl::string_view task = kNoTask;  // its name
  // Where a library's thread did it, that of whoever seems to have waited for
  // it in a call of the library: lines of the user's own are those of this.
  uint32_t waits = 0;

  // Nobody was seen to bring the memory: what it is part of is all that is
  // known.
  bool is_mapping() const { return stack == 0 && thread == 0 && mapping != 0; }
};

// The stack up to the user's own line that bytes are charged to; 0: none.
uint32_t OwnStackOf(const RunIndex& index, const Origin& origin);
// A mapping's name for people.
absl::string_view ShownMapping(const RunIndex& index, uint32_t mapping);
// Its names live as long as the index. REQUIRES: not kStack.
Place PlaceOf(GroupBy by, const RunIndex& index, const Origin& origin);

// Places, each once and numbered from 0 on. Not thread safe.
class PlaceTable {
 public:
  PlaceTable() : known_(0, {&places_}, {&places_}) {}
  PlaceTable(const PlaceTable&) = delete;
  PlaceTable& operator=(const PlaceTable&) = delete;

  // The place's number, the next one if it is new. Its names must outlive the
  // table.
  uint32_t NumberOf(const Place& place);
  // That of the place of an origin; the text of a stack is kept here.
  uint32_t NumberOf(GroupBy by, const RunIndex& index, const Origin& origin);
  const std::deque<Place>& places() const { return places_; }

 private:
  // Places by their index in places_.
  struct Hash {
    const std::deque<Place>* places;
    size_t operator()(uint32_t place) const;
  };
  struct Same {
    const std::deque<Place>* places;
    bool operator()(uint32_t a, uint32_t b) const;
  };

  std::deque<Place> places_;
  absl::flat_hash_set<uint32_t, Hash, Same> known_;
  std::deque<std::string> stack_texts_;
  FrameBudget stack_budget_{FrameBudget::kBytes / 4};
};

// Remembers the numbers that a table gives to the owners of one run, by the ids
// of these. Not thread safe; index and table must outlive it.
class OriginNumbers {
 public:
  OriginNumbers(GroupBy by, const RunIndex* index, PlaceTable* table)
      : by_(by), index_(*index), table_(*table) {}
  // `origin`: that of the owner `id`.
  uint32_t NumberOf(uint32_t id, const Origin& origin);

 private:
  const GroupBy by_;
  const RunIndex& index_;
  PlaceTable& table_;
  std::vector<uint32_t> by_id_;  // number + 1; 0: not asked for yet
};

// What of a table says nothing to people.

// The kernel counts RSS later than some pages come: less has no owner for no
// reason that concerns people.
inline constexpr int64_t kRoughBytes = 64 << 10;

// Takes away the row kUnattributed where no size of it is that much.
void DropRough(Table* table);

// Tables of places: sums by place, the largest first, the rest as one row.

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

#endif  // PYMEMRUN_READERS_PLACES_PLACE_TABLE_H_
