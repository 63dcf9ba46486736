// Live blocks by call stack: `pymemreport heap --stacks`, `snapshot`.
#ifndef PYMEMRUN_READERS_HEAP_HEAP_STACKS_H_
#define PYMEMRUN_READERS_HEAP_HEAP_STACKS_H_

#include <vector>

#include "readers/heap/heap_table.h"
#include "readers/output/output_buffer.h"
#include "readers/places/place_tree.h"

namespace pymemrun {

// A call tree of a replay's blocks, without tracing's own. By thread the
// outermost frames are threads. Not thread safe; the replay must outlive it.
class HeapStacks {
 public:
  // REQUIRES: kLine, kFunction, kFile or kThread. `inverted`: the innermost
  // frames are the outermost, with their callers below them.
  HeapStacks(GroupBy by, const HeapReplay* replay, bool inverted = false)
      : inverted_(inverted), replay_(*replay), tree_(by, &replay->index()) {}
  // See PlaceTree; before Add().
  void FoldImports() { tree_.FoldImports(); }
  // Once: `sums` by source, of those that pass `keep` (null: all).
  void Add(const std::vector<HeapSums>& sums, const HeapRowsMaker::Keep& keep);
  // The `limit` frames with the most bytes (0: all), each below its caller.
  Table ToTable(uint64_t limit, TableFormat format) const;
  void PrintCollapsed(OutputBuffer* output) const {
    tree_.PrintCollapsed(output);
  }
  const PlaceTree& tree() const { return tree_; }

 private:
  const bool inverted_;
  const HeapReplay& replay_;
  PlaceTree tree_;
};

// An array with an object for each stack, thread and allocator that passes
// `keep` (null: all), most bytes first, `limit` of them (0: all); frames are
// the outermost first, as many of them as FrameBudget lets.
void PrintSnapshotJson(const HeapMoments& replay, uint64_t limit,
                       const HeapRowsMaker::Keep& keep, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_HEAP_STACKS_H_
