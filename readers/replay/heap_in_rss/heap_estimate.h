// What samples of the heap come to in resident memory.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_ESTIMATE_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_ESTIMATE_H_

#include <vector>

#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/heap_in_rss/heap_pages.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// Of what a source has alive, in bytes.
struct HeapPart {
  double bytes = 0;
  double before_bytes = 0;  // of these: in pages that were there before tracing
  double variance = 0;  // of bytes: of samples, and of what nobody looked at
};

// By HeapModel::sources(). A recorded block stands for the resident part of as
// many blocks as its rate says, each with what its allocator rounds up. What
// lies in pools of libraries is no part of it, see FindPools(). All
// together come to `room_bytes` at most, and to `before_bytes` in pages from
// before tracing: what is estimated beyond that is not there. Without page
// events each block counts whole, there is no bound, and nothing is said of
// mappings: nobody knows whether they were touched. `unseen_bytes`: so much
// more was there than the pages say, as where a peak came between two scans. It
// lies in what blocks have beyond their known pages, of small ones first, and
// is part of room_bytes. REQUIRES: both are of one file and moment.
std::vector<HeapPart> EstimateResidentHeap(const ResidentReplay& pages,
                                           const HeapModel& heap,
                                           double room_bytes,
                                           double before_bytes,
                                           double unseen_bytes = 0);

// Charges pages to blocks that were sampled, and pools to whoever touched them.
// A page then says nothing of the blocks in it. So anonymous memory is taken
// together: what the samples come to is the blocks', and the rest is slack.
// Where C code's blocks were not recorded, and somebody saw who touched the
// pages, the rest stays with them. Pages of files and stacks stay with whoever
// brought them. REQUIRES: as above.
HeapCharges EstimateCharges(const ResidentReplay& pages,
                            const HeapReplay& heap);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_ESTIMATE_H_
