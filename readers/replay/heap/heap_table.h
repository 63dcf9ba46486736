// The table of `pymemreport heap`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_TABLE_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_TABLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "readers/output/table.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/heap/heap_places.h"

namespace pymemrun {

// Sums of blocks by place.
struct HeapRows {
  // The sums of a place, or of what has no place.
  struct Row {
    Place place;  // names live as long as the replays and the maker
    HeapSums sums;
    HeapSums before;          // the other side of a comparison
    double mapped_bytes = 0;  // resident bytes of C code's mappings
    bool is_part = true;      // counted in the total, so it has a share

    void Add(const Row& other);
    bool IsNothing() const;
  };
  std::vector<Row> places;
  Row tracing;   // tracing's own memory has no place
  Row reserved;  // C code's mappings, likewise
  Row other_threads;
  // Page events show which part of the mappings is resident.
  bool knows_mapped = false;
};

// Collects rows. Add() takes sums by source, for the sources that pass `keep`.
class HeapRowsMaker {
 public:
  // `of_reserved`: counts C code's mappings instead of live blocks.
  explicit HeapRowsMaker(GroupBy by, bool of_reserved = false)
      : by_(by), of_reserved_(of_reserved) {}
  // From now on all other threads are one row. Null: all threads have places.
  // `threads` must outlive the maker.
  void KeepThreads(ThreadFilter* threads) { threads_ = threads; }
  using Keep = std::function<bool(const HeapSource&)>;
  void Add(const HeapReplay& replay, const std::vector<HeapSums>& sums,
           bool before = false, const Keep& keep = nullptr);
  // Adds the resident bytes of mappings, by source.
  void AddMapped(const HeapReplay& replay, const std::vector<double>& bytes,
                 const Keep& keep = nullptr);
  HeapRows Take() { return std::move(rows_); }

 private:
  HeapRows::Row* RowOf(uint32_t source, const Origin& origin,
                       OriginNumbers* numbers);

  const GroupBy by_;
  const bool of_reserved_;
  ThreadFilter* threads_ = nullptr;
  HeapRows rows_;
  PlaceTable places_;
};

// Passes the sources of these threads; null: all.
HeapRowsMaker::Keep OfThreads(ThreadFilter* threads);

// Most bytes first; changes by the largest amount in either direction.
void SortByBytes(std::vector<HeapRows::Row>* places);

// How HeapTable() makes the table.
struct HeapTableOptions {
  GroupBy by = GroupBy::kLine;
  uint64_t limit = 0;         // of places; 0: all
  std::string name = "live";  // what is counted: live_bytes, live_count
  bool is_change = false;     // sums - before, signed
  bool with_errors = false;   // one standard error each, and what was unseen
  bool with_mapped = false;   // a column for what C code has mapped
  HeapUnseen unseen;          // what each place may have unseen
  bool for_text = false;      // a count that is a lower bound is ">= 30"
};

// The places, most bytes first (of changes the largest in either direction).
// Then one row each for the other places, for threads that are not kept, and
// for tracing itself. All rows except tracing's add up to `total_bytes`.
// `share` is a row's part of that; tracing's row has none. The resident part of
// C code's mappings is a column of its own. If it is unknown, a last row has
// all mappings.
Table HeapTable(const HeapTableOptions& options, HeapRows rows);

// The lines above the table in text, each ended.
std::string HeapHeading(const HeapReplay& replay);
// The part of it that says what samples stand for; empty if the run was not
// sampled.
std::string HeapEstimateText(const HeapReplay& replay, uint64_t recorded);
// "1.2 GiB in 3,456 blocks (standard error 3.0 MiB)", without an error that is
// 0 or not wanted. An estimated count is "about 3,456"; see also IsAtLeast().
std::string HeapSumsText(const HeapSums& sums, const HeapReplay& replay,
                         bool with_error = true);
// Whether the count is a lower bound: every counted block was recorded, but
// some blocks may not have been. Other counts of samples may also be too high.
bool IsAtLeast(const HeapSums& sums, const HeapUnseen& unseen);
// What may be unseen, for machines; empty if it has no bound.
Cell UnseenCell(double amount);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_TABLE_H_
