// The table of `pymemreport heap`.
#ifndef PYMEMRUN_READERS_HEAP_TABLE_H_
#define PYMEMRUN_READERS_HEAP_TABLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "readers/heap_places.h"
#include "readers/table.h"

namespace pymemrun {

// Sums of blocks by place.
struct HeapRows {
  struct Row {
    ResidentPlace place;  // names live as long as the replays
    HeapSums sums;
    HeapSums before;  // where there is something to compare with
  };
  std::vector<Row> places;
  Row tracing;  // tracing's own, in no place
};

// Adds `sums`, by source, of those sources of the replay that pass `keep`.
class HeapRowsMaker {
 public:
  explicit HeapRowsMaker(HeapBy by) : by_(by) {}
  using Keep = std::function<bool(const HeapSource&)>;
  void Add(const HeapReplay& replay, const std::vector<HeapSums>& sums,
           bool before = false, const Keep& keep = nullptr);
  HeapRows Take() { return std::move(rows_); }

 private:
  const HeapBy by_;
  HeapRows rows_;
  absl::flat_hash_map<ResidentPlace, size_t> numbers_;
};

// Most bytes first; of changes the largest in either direction.
void SortByBytes(std::vector<HeapRows::Row>* places);

struct HeapTableOptions {
  HeapBy by = HeapBy::kLine;
  uint64_t limit = 0;         // of places; 0: all
  std::string name = "live";  // of what is counted: live_bytes, live_count
  bool is_change = false;     // sums - before, signed
  bool with_errors = false;   // one standard error each
};

// The places, most bytes first (of changes the largest in either direction),
// then the others as one row, if there are any, and what tracing itself
// allocated, of which `share` is not known. All rows but the last add up to
// `total_bytes`, of which `share` is a row's part.
Table HeapTable(const HeapTableOptions& options, HeapRows rows);

// The columns that name a place.
std::vector<Table::Heading> HeapPlaceHeadings(HeapBy by);

// What stands above the table in text. Lines, each ended.
std::string HeapHeading(const HeapReplay& replay);
// The part of it that says what samples stand for, empty of a run that is not
// sampled.
std::string HeapEstimateText(const HeapReplay& replay, uint64_t recorded);
// "1.2 GiB in 3,456 blocks (standard error 3.0 MiB)"; not an error of 0.
std::string HeapSumsText(const HeapSums& sums, bool sampled);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_TABLE_H_
