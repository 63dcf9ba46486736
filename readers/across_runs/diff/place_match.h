// Places of two runs, numbered so that what is the same has one number.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_PLACE_MATCH_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_PLACE_MATCH_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "readers/across_runs/diff/code_match.h"
#include "readers/places/place_table.h"

namespace pymemrun {

// What is known of a place in both runs.
struct MatchedPlace {
  // As the run after has it, or where it has gone the run before. The function
  // of a line is given by its whole name.
  Place place;
  Place before;         // where it was; no file: it is new
  bool is_new = false;  // a line or function that the run before had not
  bool is_gone = false;
  bool edited = false, moved = false;  // as in CodeMatch
};

// Lines and functions are matched as MatchCode() does, files as MatchFiles(),
// as is what of a file has no line; threads by their names; all else by name
// alone. Not thread safe. Both
// indexes, and the names of places, must outlive it.
class PlaceMatch {
 public:
  PlaceMatch(GroupBy by, const RunIndex* before, const RunIndex* after);

  // The number of a place of one of the runs, from 0 on.
  uint32_t OfBefore(const Place& place) { return NumberOf(place, before_); }
  uint32_t OfAfter(const Place& place) { return NumberOf(place, after_); }
  const std::vector<MatchedPlace>& places() const { return places_; }

 private:
  // One of the runs.
  struct Side {
    bool is_after;
    std::vector<CodeItem> items;
    std::vector<uint32_t> others;   // of the other run, or CodeMatch::kNone
    std::vector<uint32_t> numbers;  // of items, + 1; 0: none yet
  };

  uint32_t NumberOf(const Place& place, Side& side);
  uint32_t NumberOfItem(uint32_t item, Side& side);
  uint32_t NumberOfName(const Place& place, bool is_after);
  // The number of its item; CodeMatch::kNone: there is no such item.
  uint32_t Find(const Place& place, const Side& side) const;
  void MatchItems();
  void MatchThreads(const RunIndex& before, const RunIndex& after);

  const GroupBy by_;
  Side before_, after_;
  std::vector<CodeMatch> matches_;  // by item of before_
  // By a name of the run before, that of the run after.
  absl::flat_hash_map<absl::string_view, absl::string_view> names_;
  std::vector<MatchedPlace> places_;
  absl::flat_hash_map<Place, uint32_t> named_;
};

// A row for each place that the match numbers, by its number. Calls
// add(held, is_before, row) for what either run holds, the run after first.
// Each `held` has its `place`.
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

// Which files of two runs are the same file, in different folders perhaps.

// By a file of the run before, that of the run after. Files of one path are the
// same. Of the others those are that have the most last names of their path in
// common, if no third file has these: so another checkout, or another virtual
// environment, makes no difference.
absl::flat_hash_map<absl::string_view, absl::string_view> MatchFiles(
    const std::vector<absl::string_view>& before,
    const std::vector<absl::string_view>& after);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_PLACE_MATCH_H_
