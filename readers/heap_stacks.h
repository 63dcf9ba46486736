// Live blocks by call stack: `pymemreport heap --stacks`, `snapshot`.
#ifndef PYMEMRUN_READERS_HEAP_STACKS_H_
#define PYMEMRUN_READERS_HEAP_STACKS_H_

#include <vector>

#include "readers/heap_table.h"
#include "readers/output_buffer.h"
#include "readers/place_tree.h"
#include "readers/report_options.h"

namespace pymemrun {

// A call tree of a replay's blocks, without tracing's own. By thread the
// outermost frames are threads. Not thread safe; the replay must outlive it.
class HeapStacks {
 public:
  // REQUIRES: kLine, kFunction, kFile or kThread. `inverted`: the innermost
  // frames are the outermost, with their callers below them.
  HeapStacks(HeapBy by, const HeapReplay* replay, bool inverted = false);
  // Once: `sums` by source, of those that pass `keep` (null: all).
  void Add(const std::vector<HeapSums>& sums, const HeapRowsMaker::Keep& keep);
  // As options.collapsed, format and limit say.
  void Print(const ReportOptions& options, OutputBuffer* output) const;
  const PlaceTree& tree() const { return tree_; }

 private:
  const HeapBy by_;
  const bool inverted_;
  const HeapReplay& replay_;
  PlaceTree tree_;
};

// An array with an object for each stack, thread and allocator, most bytes
// first, `limit` of them (0: all); frames are the outermost first, as many of
// them as FrameBudget lets.
void PrintSnapshotJson(const HeapMoments& replay, uint64_t limit,
                       OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_STACKS_H_
