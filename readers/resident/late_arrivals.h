// Finds huge pages of which only the fault is known, in what the kernel said
// later is resident. For ResidentReplay.
#ifndef PYMEMRUN_READERS_RESIDENT_LATE_ARRIVALS_H_
#define PYMEMRUN_READERS_RESIDENT_LATE_ARRIVALS_H_

#include <cstdint>
#include <vector>

#include "format/records/record_visitor.h"
#include "readers/resident/hindsight.h"
#include "readers/resident/resident_model.h"

namespace pymemrun {

// Of each aligned 2 MiB of anonymous memory that are resident, while the model
// has a single page of them: the others came with that one. Not all kernels
// mark such memory, and what was a huge page may have become small ones since;
// so the mark is asked for only where pages were sampled, and one in N is
// known. Before the first Residency nothing is found: it is about what was
// there before tracing. `looks_left`: at so many runs of pages it looks at the
// most, of those that came since the last Residency, and takes off at how many
// it did.
std::vector<LateArrival> FindLateArrivals(const ResidencyView& seen,
                                          const ResidentModel& model,
                                          uint64_t* looks_left);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_LATE_ARRIVALS_H_
