// Live blocks by call stack: `pymemreport heap --stacks`, `snapshot`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STACKS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STACKS_H_

#include <cstdint>

#include "readers/output/output_buffer.h"
#include "readers/places/place_tree.h"
#include "readers/replay/heap/heap_table.h"

namespace pymemrun {

struct HeapTreeOptions {
  // The innermost frames are the outermost, with their callers below them.
  bool inverted = false;
  bool folds_imports = false;          // see PlaceTree
  bool of_variances = false;           // its counts are variances of bytes
  HeapRowsMaker::Keep keep = nullptr;  // null: all sources
};
// A call tree of the blocks at a replay's first moment, without tracing's own.
// By thread the outermost frames are threads. The replay must outlive it.
// REQUIRES: kLine, kFunction, kFile or kThread.
PlaceTree HeapTree(GroupBy by, const HeapMoments& replay,
                   const HeapTreeOptions& options = {});

// An array with an object for each stack, thread and allocator that passes
// `keep` (null: all), most bytes first, `limit` of them (0: all); frames are
// the outermost first, as many of them as FrameBudget lets.
void PrintSnapshotJson(const HeapMoments& replay, uint64_t limit,
                       const HeapRowsMaker::Keep& keep, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STACKS_H_
