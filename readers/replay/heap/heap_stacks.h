// Live blocks by call stack: `pymemreport heap --stacks`, `snapshot`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STACKS_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STACKS_H_

#include <cstdint>

#include "readers/output/output_buffer.h"
#include "readers/places/place_tree.h"
#include "readers/replay/heap/heap_table.h"

namespace pymemrun {

// How HeapTree() builds a tree.
struct HeapTreeOptions {
  // Trees start with the innermost frames; callers are below them.
  bool inverted = false;
  bool folds_imports = false;          // see PlaceTree
  bool of_variances = false;           // counts are variances of bytes
  HeapRowsMaker::Keep keep = nullptr;  // null: all sources
};
// A call tree of the blocks alive at the replay's first moment, without
// tracing's own. Grouped by thread, the outermost frames are threads. The
// replay must outlive it. REQUIRES: `by` is kLine, kFunction, kFile or kThread.
PlaceTree HeapTree(GroupBy by, const HeapMoments& replay,
                   const HeapTreeOptions& options = {});

// Prints a JSON array with an object for each stack, thread and allocator that
// passes `keep` (null: all). Most bytes come first, at most `limit` objects (0:
// all). Frames are listed from the outermost on, as many as FrameBudget allows.
void PrintSnapshotJson(const HeapMoments& replay, uint64_t limit,
                       const HeapRowsMaker::Keep& keep, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_STACKS_H_
