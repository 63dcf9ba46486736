// What two runs hold differently, by place or by call stack.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_DIFF_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/across_runs/diff/place_match.h"
#include "readers/across_runs/diff/run_side.h"
#include "readers/replay/heap/heap_table.h"

namespace pymemrun {

// A figure in both runs.
struct Change {
  double before = 0, after = 0;
  double variance = 0;  // of the difference

  double bytes() const { return after - before; }
  double Error() const;  // one standard error
  // The threshold for a single figure: chance exceeds it in 1 of 370 cases.
  static constexpr double kErrors = 3;
  bool IsBeyond(double errors) const;
};
// The threshold for `places` figures compared together, in standard errors: in
// 1 of 2,000 pairs of runs chance exceeds it at any place. Sums of few samples
// deviate a little more. It is at least kErrors.
double ErrorsBeyondChance(size_t places);
// REQUIRES: both figures are known.
Change ChangeOf(const Figure& before, const Figure& after);

// A place or a frame that differs. Names live as long as both sides.
struct DiffRow {
  MatchedPlace place;
  Change change;
  uint32_t depth = 0;  // in a call tree; 0: an outermost frame
};
// Smaller changes mean nothing: from run to run it differs whether huge pages
// are used, and which line first touches a page.
inline constexpr double kLeastResidentBytes = 2 << 20;

// The rows that changed by more than chance and by `least_bytes`, largest
// changes in either direction first. Names live as long as both sides.
std::vector<DiffRow> DiffPlaces(const std::vector<HeldBytes>& before,
                                const std::vector<HeldBytes>& after,
                                double least_bytes, PlaceMatch* match);

// The `limit` (0: all) frames that changed most, including everything called
// from there. Each is below its caller, larger changes first. Callers count as
// frames that changed, too.
std::vector<DiffRow> DiffStacks(const std::vector<HeldNode>& before,
                                const std::vector<HeldNode>& after,
                                uint64_t limit, PlaceMatch* match);

// The live blocks at the first moment of `second`, by place, and those of
// `first` before. Places of both runs are named as in `second`. Names live as
// long as the replays.
HeapRows DiffHeapRows(GroupBy by, const HeapMoments& first,
                      const HeapMoments& second);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_DIFF_H_
