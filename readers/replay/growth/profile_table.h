// Growth of RSS by place, of one or more runs. See call_profile.h.
#ifndef PYMEMRUN_READERS_REPLAY_GROWTH_PROFILE_TABLE_H_
#define PYMEMRUN_READERS_REPLAY_GROWTH_PROFILE_TABLE_H_

#include <cstdint>
#include <vector>

#include "readers/output/table.h"
#include "readers/places/place_table.h"
#include "readers/replay/growth/call_profile.h"
#include "readers/run/name_pool.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// A place in a table. Its names live as long as the table.
struct ProfiledPlace {
  Place place;
  RssTotals totals = {};
  // Counted in the growth of all places, so it has a share.
  bool is_part = true;

  void Add(const ProfiledPlace& other) { totals.Add(other.totals); }
  bool IsNothing() const {
    return totals.rows + totals.growth_bytes + totals.shrinkage_bytes == 0;
  }
};

// What a change of RSS is charged to.
enum class Attribution {
  kObserved,  // the thread and place whose event saw it
  kCaused,    // the thread that added or released the pages, and its place
};
// For headings.
inline constexpr absl::string_view kObservedMeaning =
    "growth, shrinkage: changes of RSS seen at a thread's events, whoever "
    "caused them";
inline constexpr absl::string_view kCausedMeaning =
    "growth: pages that a thread added, shrinkage: pages that its calls "
    "released";
// The row for what no thread or place has, with kObserved. See kUnattributed.
inline constexpr absl::string_view kInNoRow = "in no logged row";

// The places of one or more runs, each of them once. Not thread safe.
class ProfileTable {
 public:
  // REQUIRES: `by` is kLine, kLibraryLine, kFunction, kFile, kPackage, kThread
  // or kTask.
  explicit ProfileTable(GroupBy by, Attribution of = Attribution::kObserved)
      : by_(by), of_(of), names_(kMaxNameBytes) {}

  // With kCaused, adds only the number of rows.
  void Add(const CallProfile& profile, const RunIndex& index);
  // With kCaused: adds what a place, the threads that are not kept, and native
  // threads changed.
  void Add(Place place, const RssTotals& totals);
  void AddOthers(const RssTotals& totals);
  void AddNative(const RssTotals& totals);
  // Adds to unseen_bytes().
  void AddUnseen(int64_t bytes) { unseen_bytes_ += bytes; }  // modulo 2^64
  size_t places() const { return rows_.size(); }
  // Most growth first, then by place; at most `limit` of them (0: all).
  std::vector<ProfiledPlace> Sorted(uint64_t limit) const;
  // All places together, and threads that are not kept.
  const RssTotals& total() const { return total_; }
  const RssTotals& other_threads() const { return other_threads_; }
  // Threads that never ran Python code, in a table by thread.
  const RssTotals& native_threads() const { return native_threads_; }
  Attribution of() const { return of_; }
  // See CallProfile::UnseenBytes().
  int64_t unseen_bytes() const { return static_cast<int64_t>(unseen_bytes_); }
  GroupBy by() const { return by_; }

 private:
  static constexpr size_t kMaxNameBytes = 128 << 20;

  const GroupBy by_;
  const Attribution of_;
  RssTotals total_, other_threads_, native_threads_;
  uint64_t unseen_bytes_ = 0;
  NamePool names_;
  PlaceTable places_;
  std::vector<ProfiledPlace> rows_;  // by number of the place
};

// What tracing itself costs: at most these bytes of memory (0: unknown), and
// the objects that it made the interpreter allocate (RunFacts::MadeObjects).
struct OwnCost {
  uint64_t bytes = 0;
  uint64_t frames_made = 0;
  uint64_t bound_made = 0;
  // The table is of a part of the run, so the cost is left out.
  bool of_part = false;
};

// The places, most growth first, at most `limit` of them (0: all). Then follow:
// threads that are not kept, native threads, and the change of RSS in no logged
// row, or by no thread, unless it is 0. The last row is the cost of tracing; in
// a table with a function column it also counts objects. `share` is a part of
// the growth of all places, listed or not; the last two rows have none.
// Functions are Python's: growth in a C function is charged to the Python
// function that called it.
Table TopTable(const ProfileTable& profile, uint64_t limit,
               const OwnCost& cost);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GROWTH_PROFILE_TABLE_H_
