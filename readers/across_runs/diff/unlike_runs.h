// Why figures of two runs may differ although nothing got worse, or agree
// although something did: the runs recorded different things, ended
// differently, or lost events.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_UNLIKE_RUNS_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_UNLIKE_RUNS_H_

#include <string>
#include <vector>

#include "readers/across_runs/diff/run_side.h"

namespace pymemrun {

// Why a figure cannot be compared, such as "NEW lost 12 heap events"; empty: it
// can. Given one run twice: why that run's figure is unreliable.
std::string WhyUnlike(const RunSide& before, const RunSide& after, Total total);

// All differences of this kind, a sentence each.
std::vector<std::string> UnlikeRuns(const RunSide& before,
                                    const RunSide& after);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_UNLIKE_RUNS_H_
