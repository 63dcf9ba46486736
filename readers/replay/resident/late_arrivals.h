// Finds pages where so far only the fault is known that brought them: huge
// pages and files. It looks in what the kernel later said is resident. For
// ResidentReplay.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_LATE_ARRIVALS_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_LATE_ARRIVALS_H_

#include <cstdint>
#include <vector>

#include "format/records/record_visitor.h"
#include "readers/replay/resident/hindsight.h"
#include "readers/replay/resident/resident_model.h"

namespace pymemrun {

// Takes each aligned 2 MiB of anonymous memory that is resident while the model
// has a single page of it: the other pages came with this page. Not all kernels
// mark huge pages, and a huge page may have become small ones since. So the
// mark is asked for only where pages were sampled, and one in N is known.
// Before the first Residency nothing is found: that tells what was there before
// tracing. `looks_left`: how many runs of pages it may look at, among those
// that came since the last Residency. Each look takes one off.
std::vector<LateArrival> FindLateArrivals(const ResidencyView& seen,
                                          const ResidentModel& model,
                                          uint64_t* looks_left);

// The same for what the entry takes away before any Residency: each block may
// have been a huge page, or no more than the page that is known.
std::vector<LateArrival> FindGoneBlocks(const PageEntry& entry,
                                        const ResidentModel& model,
                                        uint64_t* looks_left);

// Where the entry says that pages of a file were found, and nobody is told to
// have brought them: a fault brings up to 2 MiB of a file. They came with the
// nearest known page of the aligned 2 MiB, if it is beside the gap that they
// lie in. Nothing for other entries.
std::vector<LateArrival> FindLateFilePages(const PageEntry& entry,
                                           const ResidentModel& model,
                                           uint64_t* looks_left);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_LATE_ARRIVALS_H_
