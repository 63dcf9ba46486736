// What of RSS would return to the system if some blocks were freed.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_RETURNED_MEMORY_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_RETURNED_MEMORY_H_

#include <cstdint>
#include <vector>

#include "readers/replay/heap_in_rss/python_arenas.h"
#include "readers/replay/resident/resident_model.h"

namespace pymemrun {

// Addresses of a block that goes or stays. Small ones may lie in arenas. One
// that is a mapping is unmapped when it goes.
struct BlockRange {
  uint64_t begin, end;
  bool is_small;
  bool is_mapping = false;
};

// Resident pages, in bytes. Those from before tracing hold something else: what
// lies in them is not known.
//   alone = arenas + own mappings + trimmed + kept in arenas + kept by malloc
struct ReturnedMemory {
  uint64_t alone_bytes = 0;   // in which nothing else lies
  uint64_t shared_bytes = 0;  // with parts of the blocks, and other things
  // Of alone_bytes, what CPython and glibc unmap as soon as the blocks go:
  uint64_t arena_bytes = 0;    // arenas that would be empty, free pools too
  uint64_t mapped_bytes = 0;   // large blocks in mappings of their own
  uint64_t trimmed_bytes = 0;  // the end of malloc's heap, what is free too
  // What stays with an allocator: in arenas in which other blocks live, and in
  // the one empty arena that CPython keeps...
  uint64_t kept_arena_bytes = 0;
  // ...and in malloc's heap, which gives it back with malloc_trim().
  uint64_t malloc_bytes = 0;
  uint64_t arenas = 0;  // of arena_bytes

  uint64_t AtOnceBytes() const {
    return arena_bytes + mapped_bytes + trimmed_bytes;
  }
};

// The main heap of malloc. Its end is given back when more than `trim_bytes`
// are free there. Empty: not known, and then nothing is thought to return.
struct MallocHeap {
  uint64_t begin = 0, end = 0;
  uint64_t trim_bytes = 0;
};

// `arenas`: by address. REQUIRES: ranges are not empty. Time grows with the
// number of ranges and of runs of pages, not with their lengths.
ReturnedMemory MemoryWithout(std::vector<BlockRange> going,
                             std::vector<BlockRange> staying,
                             const std::vector<PythonArenas::Arena>& arenas,
                             const MallocHeap& malloc_heap,
                             const ResidentModel& pages);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_RETURNED_MEMORY_H_
