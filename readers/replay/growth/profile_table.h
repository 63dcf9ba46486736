// Growth of RSS summed up by place, of one or more runs. See call_profile.h.
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

// One place of a table, with what was seen there. Its names live as long as the
// table.
struct ProfiledPlace {
  Place place;
  RssTotals totals = {};
  bool is_part = true;  // of the growth at all places: it has a share

  void Add(const ProfiledPlace& other) { totals.Add(other.totals); }
  bool IsNothing() const {
    return totals.rows + totals.growth_bytes + totals.shrinkage_bytes == 0;
  }
};

// Whose a change of RSS is.
enum class Attribution {
  kObserved,  // of the thread, and the place, whose event saw it
  kCaused,    // of the thread that brought pages or gave them back, and where
};
// For headings.
inline constexpr absl::string_view kObservedMeaning =
    "growth, shrinkage: what events of a thread saw, whoever caused it";
inline constexpr absl::string_view kCausedMeaning =
    "growth: pages that a thread brought, shrinkage: those that its calls gave "
    "back";
// The rows of what no thread or place has: kObserved. See kUnattributed.
inline constexpr absl::string_view kInNoRow = "in no logged row";

// Places of one or more runs, each once. Not thread safe.
class ProfileTable {
 public:
  // REQUIRES: kLine, kLibraryLine, kFunction, kFile, kPackage, kThread or
  // kTask.
  explicit ProfileTable(GroupBy by, Attribution of = Attribution::kObserved)
      : by_(by), of_(of), names_(kMaxNameBytes) {}

  // Of kCaused its rows alone.
  void Add(const CallProfile& profile, const RunIndex& index);
  // Of kCaused: what a place, threads that are not kept, native ones did.
  void Add(Place place, const RssTotals& totals);
  void AddOthers(const RssTotals& totals);
  void AddNative(const RssTotals& totals);
  // Adds to unseen_bytes().
  void AddUnseen(int64_t bytes) { unseen_bytes_ += bytes; }  // modulo 2^64
  size_t places() const { return rows_.size(); }
  // Most growth first, then by place; at most `limit` of them (0: all).
  std::vector<ProfiledPlace> Sorted(uint64_t limit) const;
  // Of all places, and of threads that are not kept.
  const RssTotals& total() const { return total_; }
  const RssTotals& other_threads() const { return other_threads_; }
  // Of threads that never ran Python code, where a table is by thread.
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

// The table of `pymemreport top`.

// What tracing itself costs: bytes of memory at most, 0 where it is not known,
// and objects that it made the interpreter allocate (RunFacts::MadeObjects).
struct OwnCost {
  uint64_t bytes = 0;
  uint64_t frames_made = 0;
  uint64_t bound_made = 0;
  bool of_part = false;  // the table is of a part of the run: it is not told
};

// The places, most growth first, at most `limit` of them (0: all). Below them
// stand what threads did or saw that are not kept, and native ones. What RSS
// changed by in no logged row, or by no thread's doing, is next, unless it is
// 0. Then comes what tracing itself costs; a table
// with a function column also counts its objects. `share` is a part of the
// growth at all places, listed or not; the last two rows have no share.
// Functions are Python's: growth in a C function counts for the Python function
// that called it.
Table TopTable(const ProfileTable& profile, uint64_t limit,
               const OwnCost& cost);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GROWTH_PROFILE_TABLE_H_
