// Finds pages that came in together with a recorded one: those of huge pages
// and of files. The evidence is what the kernel later says is resident. Used by
// ResidentReplay.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_LATE_ARRIVALS_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_LATE_ARRIVALS_H_

#include <cstdint>
#include <vector>

#include "format/records/record_visitor.h"
#include "readers/replay/resident/hindsight.h"
#include "readers/replay/resident/resident_model.h"

namespace pymemrun {

// Finds each aligned 2 MiB of anonymous memory that is resident while the model
// has a single page of it: the others came with this page. Not every kernel
// marks huge pages, and a huge page may have been split since. So the mark is
// required only where pages were sampled, and one in N is known.
//
// Returns nothing before the first Residency, which shows what was there before
// tracing. `looks_left` bounds the work: each run of pages examined takes one
// off. Only runs that came since the last Residency are examined.
std::vector<LateArrival> FindLateArrivals(const ResidencyView& seen,
                                          const ResidentModel& model,
                                          uint64_t* looks_left);

// The same for pages that the entry removes before any Residency has seen them.
// Each block may have been a huge page, or only the page that is known.
std::vector<LateArrival> FindGoneBlocks(const PageEntry& entry,
                                        const ResidentModel& model,
                                        uint64_t* looks_left);

// For an entry that reports resident pages of a file without a fault. One fault
// brings up to 2 MiB of a file. So the pages are taken to have come with a
// known page, if it is at the edge of their gap, and in the same aligned 2 MiB.
// Returns nothing for other entries.
std::vector<LateArrival> FindLateFilePages(const PageEntry& entry,
                                           const ResidentModel& model,
                                           uint64_t* looks_left);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_LATE_ARRIVALS_H_
