// Estimates which part of resident memory the sampled blocks of the heap take.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_ESTIMATE_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_ESTIMATE_H_

#include <vector>

#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/heap_in_rss/heap_pages.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// The resident part of what a source has alive.
struct HeapPart {
  double bytes = 0;
  double before_bytes = 0;  // the part of it in pages from before tracing
  double variance = 0;  // of bytes: from sampling, and from what no scan saw
};

// The result is by HeapModel::sources(). A recorded block stands for the
// resident part of as many blocks as its rate says, including what its
// allocator rounds up. Blocks in pools of libraries are left out, see
// FindPools().
//
// All parts together have at most `room_bytes`, and at most `before_bytes` of
// it in pages from before tracing: an estimate beyond that is wrong. Without
// page events each block counts whole, there is no bound, and mappings are left
// out, because it is unknown whether they were touched.
//
// `unseen_bytes` is resident memory, part of room_bytes, that the pages do not
// show, for instance at a peak between two scans. It is spread over the parts
// of blocks outside their known pages, small blocks first. REQUIRES: both
// replays are of one file and moment.
std::vector<HeapPart> EstimateResidentHeap(const ResidentReplay& pages,
                                           const HeapModel& heap,
                                           double room_bytes,
                                           double before_bytes,
                                           double unseen_bytes = 0);

// Charges pages to sampled blocks, and pools to the code that touched them. A
// page does not show which blocks are in it if most are unrecorded. So
// anonymous memory is treated as a whole: the blocks get what the samples
// estimate, and the rest is slack. If C code's blocks were not recorded, but
// page faults were, the rest stays with the code that touched it. So do pages
// of files and stacks. REQUIRES: as above.
HeapCharges EstimateCharges(const ResidentReplay& pages,
                            const HeapReplay& heap);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_ESTIMATE_H_
