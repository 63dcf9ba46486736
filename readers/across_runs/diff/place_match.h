// Numbers the places of two runs: places that match have one number.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_PLACE_MATCH_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_PLACE_MATCH_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "readers/across_runs/diff/code_match.h"
#include "readers/places/place_table.h"

namespace pymemrun {

// A place in one run or both.
struct MatchedPlace {
  // As in the run after; if it is gone, as in the run before. A line has the
  // qualified name of its function.
  Place place;
  Place before;         // in the run before; no file: it is new
  bool is_new = false;  // a line or function that the run before lacks
  bool is_gone = false;
  bool edited = false, moved = false;  // as in CodeMatch
};

// Lines and functions are matched by MatchCode(). Files are matched by
// MatchFiles(), and so are places with a file and no line. Threads are matched
// by name, and other places by their whole name. Not thread safe. Both indexes,
// and the names of places, must outlive it.
class PlaceMatch {
 public:
  PlaceMatch(GroupBy by, const RunIndex* before, const RunIndex* after);

  // The number of a place of one run, from 0 on.
  uint32_t OfBefore(const Place& place) { return NumberOf(place, before_); }
  uint32_t OfAfter(const Place& place) { return NumberOf(place, after_); }
  const std::vector<MatchedPlace>& places() const { return places_; }

 private:
  // One of the runs.
  struct Side {
    bool is_after;
    std::vector<CodeItem> items;
    // Matches in the other run, or CodeMatch::kNone.
    std::vector<uint32_t> others;
    std::vector<uint32_t> numbers;  // by item: number + 1; 0: none yet
  };

  uint32_t NumberOf(const Place& place, Side& side);
  uint32_t NumberOfItem(uint32_t item, Side& side);
  uint32_t NumberOfName(const Place& place, bool is_after);
  // The number of the place's item; kNone: it has none.
  uint32_t Find(const Place& place, const Side& side) const;
  void MatchItems();
  void MatchThreads(const RunIndex& before, const RunIndex& after);

  const GroupBy by_;
  Side before_, after_;
  std::vector<CodeMatch> matches_;  // by item of before_
  // The run after's name, by the run before's.
  absl::flat_hash_map<absl::string_view, absl::string_view> names_;
  std::vector<MatchedPlace> places_;
  absl::flat_hash_map<Place, uint32_t> named_;
};

// Returns a row for each numbered place. Calls add(held, is_before, row) for
// what each run holds, first for the run after. `Held` has a `place`.
template <typename Row, typename Held, typename AddTo>
std::vector<Row> JoinByPlace(const std::vector<Held>& before,
                             const std::vector<Held>& after, PlaceMatch* match,
                             AddTo add) {
  std::vector<Row> rows;
  for (const bool is_before : {false, true}) {
    for (const Held& held : is_before ? before : after) {
      const uint32_t number =
          is_before ? match->OfBefore(held.place) : match->OfAfter(held.place);
      if (number >= rows.size()) rows.resize(number + 1);
      add(held, is_before, &rows[number]);
    }
  }
  return rows;
}

// Matches the files of two runs, perhaps in different folders. Returns the run
// after's file, by the run before's. Equal paths match. Other files match the
// one with which they share the most trailing parts of the path, if no third
// file has these. So another checkout, or another virtual environment, makes no
// difference.
absl::flat_hash_map<absl::string_view, absl::string_view> MatchFiles(
    const std::vector<absl::string_view>& before,
    const std::vector<absl::string_view>& after);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_PLACE_MATCH_H_
