// Charges the memory in pools of C libraries to the code that touched it.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_POOL_PAGES_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_POOL_PAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/replay/heap/heap_model.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// Resident bytes that a single owner touched in a library's mappings.
struct PoolPart {
  uint32_t owner;   // ResidentModel::owners()
  uint32_t mapper;  // MappingDef.id of the code that mapped it; 0: unknown
  double bytes = 0;
  double variance = 0;  // of bytes, if mappings were sampled
};

// A library maps much memory at once, for whichever code needs some later. So
// the line whose call mapped it is not charged with what others touch there,
// and how much of the pool is in use is unknown. If recorded blocks are in a
// library's mapping, it belongs to the program's malloc: the rest of it is free
// memory, and not a pool. Memory from before tracing is left out. If there are
// pools, each block takes logarithmic time. REQUIRES: both are of one file and
// moment.
std::vector<PoolPart> FindPools(const ResidentReplay& pages,
                                const HeapModel& heap);

// The part of `unseen_bytes`, which came since the last scan, that seems to be
// in pools: at most what the next scan finds there. PoolPart.owner is 0, as no
// scan has seen it yet.
std::vector<PoolPart> FindUnseenPools(const ResidentReplay& pages,
                                      const HeapModel& heap,
                                      double unseen_bytes);

// "libarrow" for "/usr/lib/libarrow.so.2600"; "?" for an empty path.
std::string LibraryName(absl::string_view mapping);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_POOL_PAGES_H_
