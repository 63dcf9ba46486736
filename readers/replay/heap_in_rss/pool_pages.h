// Whose doing the memory in pools of C libraries is.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_POOL_PAGES_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_POOL_PAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/replay/heap/heap_model.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// Resident bytes that a toucher has in what a library has mapped.
struct PoolPart {
  uint32_t owner;   // ResidentModel::owners()
  uint32_t mapper;  // MappingDef.id of the code that mapped it; 0: not known
  double bytes = 0;
  double variance = 0;  // of bytes, where mappings were sampled
};

// A library maps much at once, for whoever needs some of it later. So the line
// whose call it was does not hold what others touch there, and nobody outside
// knows how much of it is in use. Where recorded blocks lie in what a library
// has mapped, it is the program's malloc: what the blocks leave is free, and no
// part of this. Without what was there before tracing. Takes a logarithm of
// time for each block, where there are pools. REQUIRES: both are of one file
// and moment.
std::vector<PoolPart> FindPools(const ResidentReplay& pages,
                                const HeapModel& heap);

// The part of `unseen_bytes`, which came since the last scan, that seems to lie
// in pools: at most what the next scan finds there. No scan has seen it yet, so
// PoolPart.owner is 0.
std::vector<PoolPart> FindUnseenPools(const ResidentReplay& pages,
                                      const HeapModel& heap,
                                      double unseen_bytes);

// "libarrow" of "/usr/lib/libarrow.so.2600"; "?" of no path.
std::string LibraryName(absl::string_view mapping);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_POOL_PAGES_H_
