// Finds CPython's arenas from heap events: what pymalloc maps for small blocks,
// and unmaps when the last block of an arena is freed.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_PYTHON_ARENAS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_PYTHON_ARENAS_H_

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "format/batches/heap_event.h"

namespace pymemrun {

// An arena consists of pools, aligned to their size. Pools are used from the
// lowest on, and so are the blocks in a pool, after its header. So a small
// block outside all known arenas, if it is the first of a pool, is the first of
// a new arena. Not thread safe.
//
// Memory: some 40 bytes for each arena.
class PythonArenas {
 public:
  // An arena as far as its address is certain.
  struct Arena {
    uint64_t begin, end;  // of its pools, in bytes
    uint64_t pool_bytes;
  };
  // Sizes as in obmalloc.c: blocks of up to kMostBytes are in arenas.
  static constexpr uint64_t kMostBytes = 512;
  static constexpr uint64_t kPoolHeaderBytes = 48;

  // REQUIRES: no event was taken. `version` is that of sys.version.
  void SetPython(absl::string_view version);
  // Events in the order of the file.
  void Take(const HeapEvent& event);

  // The arenas that have blocks, by address. Empty if small blocks are not
  // placed as pymalloc does: with PYTHONMALLOC=malloc, and without a GIL.
  std::vector<Arena> Found() const;

  static bool IsSmall(HeapAllocator allocator, uint64_t size) {
    return (allocator == HEAP_OBJ || allocator == HEAP_MEM) && size != 0 &&
           size <= kMostBytes;
  }

 private:
  // By the start of the arena.
  using Blocks = absl::btree_map<uint64_t, uint64_t>;

  Blocks::iterator Find(uint64_t address);
  void Allocate(const HeapEvent& event);
  void Free(uint64_t address);

  uint64_t arena_bytes_ = uint64_t{1} << 20, pool_bytes_ = uint64_t{1} << 14;
  Blocks arenas_;
  // The arena that lost its last block by the last event. If realloc only moved
  // the block within the arena, it is still there.
  uint64_t emptied_ = 0;
  uint64_t in_place_ = 0, out_of_place_ = 0;  // small blocks in known arenas
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_PYTHON_ARENAS_H_
