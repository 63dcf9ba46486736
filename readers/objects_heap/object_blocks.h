// Which of the heap's live blocks are those of some objects.
#ifndef PYMEMRUN_READERS_OBJECTS_HEAP_OBJECT_BLOCKS_H_
#define PYMEMRUN_READERS_OBJECTS_HEAP_OBJECT_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "readers/heap/heap_model.h"
#include "readers/heap_in_rss/returned_memory.h"
#include "readers/objects/object_graph.h"

namespace pymemrun {

// An object lies in a block of its own. Of its size more may lie in another
// one, such as the items of a list: see BesideBlocks.
struct BlocksOfObjects {
  uint64_t bytes = 0;  // of these objects, as the heap has them
  // Of these, what lies nobody knows where: several blocks of one object, or
  // blocks from before tracing.
  uint64_t unplaced_bytes = 0;
  std::vector<BlockRange> going;    // theirs
  std::vector<BlockRange> staying;  // all others, and what C code has mapped
};

// `gone`: by node. REQUIRES: the model is of the dump's moment and has every
// block since tracing began.
BlocksOfObjects FindBlocks(const HeapModel& heap, const ObjectGraph& graph,
                           const std::vector<bool>& gone);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_HEAP_OBJECT_BLOCKS_H_
