// Where CPython's arenas lie, as far as heap events tell: what pymalloc maps
// for small blocks, and unmaps when the last block in it has gone.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_PYTHON_ARENAS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_PYTHON_ARENAS_H_

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "format/batches/heap_event.h"

namespace pymemrun {

// An arena consists of pools, which are aligned to their size. They are used
// from the lowest on, and so are the blocks of each behind its header. So a
// small block outside of all known arenas is the first one of a new arena, if
// it is the first of a pool. Not thread safe.
//
// Memory: some 40 bytes for each arena.
class PythonArenas {
 public:
  struct Arena {
    uint64_t begin, end;  // of its pools
    uint64_t pool_bytes;
  };
  // Sizes as in obmalloc.c: blocks of up to so many bytes lie in arenas.
  static constexpr uint64_t kMostBytes = 512;
  static constexpr uint64_t kPoolHeaderBytes = 48;

  // REQUIRES: nothing was taken. `version` as in sys.version.
  void SetPython(absl::string_view version);
  // Events in the order of the file.
  void Take(const HeapEvent& event);

  // Those that have blocks, by address; none where the small blocks do not lie
  // as pymalloc puts them: with PYTHONMALLOC=malloc, and without a GIL.
  std::vector<Arena> Found() const;

  static bool IsSmall(HeapAllocator allocator, uint64_t size) {
    return (allocator == HEAP_OBJ || allocator == HEAP_MEM) && size != 0 &&
           size <= kMostBytes;
  }

 private:
  using Blocks = absl::btree_map<uint64_t, uint64_t>;  // by the arena's begin

  Blocks::iterator Find(uint64_t address);
  void Allocate(const HeapEvent& event);
  void Free(uint64_t address);

  uint64_t arena_bytes_ = uint64_t{1} << 20, pool_bytes_ = uint64_t{1} << 14;
  Blocks arenas_;
  // The one that the last event took the last block from. If the block has only
  // moved within it, it is still there.
  uint64_t emptied_ = 0;
  uint64_t in_place_ = 0, out_of_place_ = 0;  // blocks in known arenas
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_PYTHON_ARENAS_H_
