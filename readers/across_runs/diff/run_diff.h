// What two runs hold differently: by place, or by call stack.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_DIFF_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/across_runs/diff/place_match.h"
#include "readers/across_runs/diff/run_side.h"
#include "readers/replay/heap/heap_table.h"

namespace pymemrun {

// Of one figure in both runs.
struct Change {
  double before = 0, after = 0;
  double variance = 0;  // of both together

  double bytes() const { return after - before; }
  double Error() const;  // one standard error
  // A figure for itself: chance alone exceeds it in 1 of 370.
  static constexpr double kErrors = 3;
  bool IsBeyond(double errors) const;
};
// As many standard errors as chance exceeds at any of so many places, that are
// compared together, in 1 of 2,000 pairs of runs. Sums of few samples stray a
// little further. kErrors at least.
double ErrorsBeyondChance(size_t places);
// REQUIRES: both know it.
Change ChangeOf(const Figure& before, const Figure& after);

struct DiffRow {
  MatchedPlace place;
  Change change;
  uint32_t depth = 0;  // of a call tree; the outermost frames have 0
};
// Whether pages of 2 MiB come, and which line touches the first byte of a page,
// differs from run to run: less than this says nothing.
inline constexpr double kLeastResidentBytes = 2 << 20;

// The rows that changed by more than their errors, and by `least_bytes`, the
// largest changes in either direction first. Names live as long as both sides.
std::vector<DiffRow> DiffPlaces(const std::vector<HeldBytes>& before,
                                const std::vector<HeldBytes>& after,
                                double least_bytes, PlaceMatch* match);

// Those of the `limit` (0: all) frames that changed most, each with all that
// was called from there and below its caller, larger changes first. Callers
// stand for what they call, too.
std::vector<DiffRow> DiffStacks(const std::vector<HeldNode>& before,
                                const std::vector<HeldNode>& after,
                                uint64_t limit, PlaceMatch* match);

// What was alive at the first moment of each replay, by place, with what it was
// in the first one before it. A place is that of the second run where both have
// it. Names live as long as the replays.
HeapRows DiffHeapRows(GroupBy by, const HeapMoments& first,
                      const HeapMoments& second);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_DIFF_H_
