// Finds the place that bytes are charged to, and numbers places. Used by
// everything that sums up bytes by place.
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

// Memory that belongs to no file and has no name.
inline constexpr absl::string_view kAnonymous = "<anonymous>";

// Who holds bytes, in ids of the run file. Each report uses some of the fields.
struct Origin {
  uint32_t stack = 0;
  uint32_t thread = 0;
  uint32_t mapping = 0;  // of the memory
  uint32_t module = 0;   // the mapping whose code asked for the memory
  absl::string_view no_module = "?";  // the name of module 0
  absl::string_view allocator = {};
  absl::string_view task = kNoTask;  // the task's name
  // For a library's thread: the stack of the thread that seems to have waited
  // for it in a call of the library. Its lines count as the user's own. 0:
  // none.
  uint32_t waits = 0;

  // Whether the mapping is all that is known: no one was seen to touch the
  // memory.
  bool is_mapping() const { return stack == 0 && thread == 0 && mapping != 0; }
};

// The stack up to the own line that bytes are charged to; 0: none.
uint32_t OwnStackOf(const RunIndex& index, const Origin& origin);
// A mapping's name for people.
absl::string_view ShownMapping(const RunIndex& index, uint32_t mapping);
// The names live as long as the index. REQUIRES: `by` is not kStack.
Place PlaceOf(GroupBy by, const RunIndex& index, const Origin& origin);

// Numbers places from 0 on; each place is kept once. Not thread safe.
class PlaceTable {
 public:
  PlaceTable() : known_(0, {&places_}, {&places_}) {}
  PlaceTable(const PlaceTable&) = delete;
  PlaceTable& operator=(const PlaceTable&) = delete;

  // Returns the place's number; a new place gets the next one. Its names must
  // outlive the table.
  uint32_t NumberOf(const Place& place);
  // The same for an origin's place. The table keeps the text of a stack.
  uint32_t NumberOf(GroupBy by, const RunIndex& index, const Origin& origin);
  const std::deque<Place>& places() const { return places_; }

 private:
  // Finds places by their index in places_.
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

// Caches the numbers of the places of one run's owners, by owner id. Not thread
// safe. The index and the table must outlive it.
class OriginNumbers {
 public:
  OriginNumbers(GroupBy by, const RunIndex* index, PlaceTable* table)
      : by_(by), index_(*index), table_(*table) {}
  // `origin` is that of the owner `id`.
  uint32_t NumberOf(uint32_t id, const Origin& origin);

 private:
  const GroupBy by_;
  const RunIndex& index_;
  PlaceTable& table_;
  std::vector<uint32_t> by_id_;  // number + 1; 0: not requested yet
};

// The kernel counts RSS later than some pages come. A smaller amount without an
// owner is due to this, and means nothing to people.
inline constexpr int64_t kRoughBytes = 64 << 10;

// Removes the row kUnattributed if all its sizes are below kRoughBytes.
void DropRough(Table* table);

// Returns the row of the place with this number; new rows start empty. The
// first member of a `Row` is its `place`.
template <typename Row, typename Places>
Row& RowOfPlace(size_t number, const Places& places, std::vector<Row>* rows) {
  while (rows->size() <= number) rows->push_back({places[rows->size()]});
  return (*rows)[number];
}

// Sorts rows by size(row), largest first, then by place, and keeps `limit` of
// them (0: all). Returns the sum of the others by Row::Add().
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

// Makes a table of places and, below them, rows that have a name instead.
template <typename Row>
class PlaceTableMaker {
 public:
  PlaceTableMaker(GroupBy by, TableColumns<Row> columns)
      : by_(by), columns_(std::move(columns)) {
    table_.headings = PlaceHeadings(by);
    columns_.AppendHeadings(&table_.headings);
  }
  // `cells`: those of the columns that name the place.
  void Add(std::vector<Cell> cells, const Row& row) {
    columns_.AppendCells(row, &cells);
    table_.rows.push_back(std::move(cells));
  }
  void AddPlaces(const std::vector<Row>& rows) {
    for (const Row& row : rows) Add(PlaceCells(by_, row.place), row);
    EndPlaces();
  }
  // The rows added so far are the table's places.
  void EndPlaces() { table_.places = table_.rows.size(); }
  void AddNamed(absl::string_view name, const Row& row) {
    Add(NameCells(by_, name), row);
  }
  // Adds the row unless Row::IsNothing().
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
