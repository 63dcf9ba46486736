// How much of RSS would return to the system if some blocks were freed.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_RETURNED_MEMORY_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_RETURNED_MEMORY_H_

#include <cstdint>
#include <vector>

#include "readers/replay/heap_in_rss/python_arenas.h"
#include "readers/replay/resident/resident_model.h"

namespace pymemrun {

// The addresses of a block that is freed or stays. Small blocks may be in
// arenas. A block that is a mapping is unmapped when it is freed.
struct BlockRange {
  uint64_t begin, end;
  bool is_small;
  bool is_mapping = false;
};

// Resident bytes. Pages from before tracing are taken to hold other things,
// too: their contents are unknown.
//   alone = arenas + own mappings + trimmed + kept in arenas + kept by malloc
struct ReturnedMemory {
  uint64_t alone_bytes = 0;   // pages with nothing else in them
  uint64_t shared_bytes = 0;  // pages shared with blocks that stay
  // What CPython and glibc unmap at once when the blocks are freed, as parts of
  // alone_bytes:
  uint64_t arena_bytes = 0;   // arenas that become empty, with their free pools
  uint64_t mapped_bytes = 0;  // large blocks that are mappings
  // The end of malloc's heap, with what is free there.
  uint64_t trimmed_bytes = 0;
  // What an allocator keeps: in arenas with other live blocks, and in the one
  // empty arena that CPython keeps...
  uint64_t kept_arena_bytes = 0;
  // ...and in malloc's heap, which releases it by malloc_trim().
  uint64_t malloc_bytes = 0;
  uint64_t arenas = 0;  // their number, for arena_bytes

  uint64_t AtOnceBytes() const {
    return arena_bytes + mapped_bytes + trimmed_bytes;
  }
};

// malloc's main heap. Its end is released when more than `trim_bytes` are free
// there. Empty: unknown, and nothing is assumed to be released.
struct MallocHeap {
  uint64_t begin = 0, end = 0;
  uint64_t trim_bytes = 0;
};

// `arenas` are sorted by address. REQUIRES: ranges are not empty. Time grows
// with the number of ranges and of runs of pages, not with their lengths.
ReturnedMemory MemoryWithout(std::vector<BlockRange> going,
                             std::vector<BlockRange> staying,
                             const std::vector<PythonArenas::Arena>& arenas,
                             const MallocHeap& malloc_heap,
                             const ResidentModel& pages);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_RETURNED_MEMORY_H_
