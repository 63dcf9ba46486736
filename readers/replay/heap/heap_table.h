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
  struct Row {
    Place place;  // names live as long as the replays and the maker
    HeapSums sums;
    HeapSums before;          // where there is something to compare with
    double mapped_bytes = 0;  // resident of what C code has mapped
    bool is_part = true;      // of the total: it has a share

    void Add(const Row& other);
    bool IsNothing() const;
  };
  std::vector<Row> places;
  Row tracing;   // tracing's own, in no place
  Row reserved;  // what C code has mapped, likewise
  Row other_threads;
  // The rows have mapped_bytes: page events tell what is resident.
  bool knows_mapped = false;
};

// Adds `sums`, by source, of those sources of the replay that pass `keep`.
class HeapRowsMaker {
 public:
  // `of_reserved`: of what C code has mapped, instead of what is alive.
  explicit HeapRowsMaker(GroupBy by, bool of_reserved = false)
      : by_(by), of_reserved_(of_reserved) {}
  // What these (null: all) do not keep is one row, from here on. They must
  // outlive the maker.
  void KeepThreads(ThreadFilter* threads) { threads_ = threads; }
  using Keep = std::function<bool(const HeapSource&)>;
  void Add(const HeapReplay& replay, const std::vector<HeapSums>& sums,
           bool before = false, const Keep& keep = nullptr);
  // What is resident of mappings, by source of the replay.
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

// The sources of these threads; null: all.
HeapRowsMaker::Keep OfThreads(ThreadFilter* threads);

// Most bytes first; of changes the largest in either direction.
void SortByBytes(std::vector<HeapRows::Row>* places);

struct HeapTableOptions {
  GroupBy by = GroupBy::kLine;
  uint64_t limit = 0;         // of places; 0: all
  std::string name = "live";  // of what is counted: live_bytes, live_count
  bool is_change = false;     // sums - before, signed
  bool with_errors = false;   // one standard error each, and what is unseen
  bool with_mapped = false;   // a column for what C code has mapped
  HeapUnseen unseen;          // at each place
  bool for_text = false;      // a count that is a lower bound is ">= 30"
};

// The places, most bytes first (of changes the largest in either direction),
// then the others as one row, if there are any, what threads have that are not
// kept, and what tracing itself allocated. All rows except tracing's add up to
// `total_bytes`. `share` is a row's part of that; tracing's row has no share.
// What C code has mapped is in a column of its own: for each place what is
// resident. Where that is not known, a last row has all of it.
Table HeapTable(const HeapTableOptions& options, HeapRows rows);

// What stands above the table in text. Lines, each ended.
std::string HeapHeading(const HeapReplay& replay);
// The part of it that says what samples stand for, empty of a run that is not
// sampled.
std::string HeapEstimateText(const HeapReplay& replay, uint64_t recorded);
// "1.2 GiB in 3,456 blocks (standard error 3.0 MiB)"; not an error of 0, nor
// one that is not wanted. What is estimated is "about 3,456"; see IsAtLeast().
std::string HeapSumsText(const HeapSums& sums, const HeapReplay& replay,
                         bool with_error = true);
// Whether each block that is counted was recorded, and others may not have
// been: a lower bound. Other counts of samples may be too high as well.
bool IsAtLeast(const HeapSums& sums, const HeapUnseen& unseen);
// What may be unseen, for machines; empty where that has no bound.
Cell UnseenCell(double amount);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_TABLE_H_
