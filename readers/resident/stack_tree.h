// Resident pages by call stack: `pymemreport resident --stacks, --collapsed`.
#ifndef PYMEMRUN_READERS_RESIDENT_STACK_TREE_H_
#define PYMEMRUN_READERS_RESIDENT_STACK_TREE_H_

#include <cstdint>
#include <utility>

#include "readers/output/output_buffer.h"
#include "readers/output/table.h"
#include "readers/places/place_tree.h"
#include "readers/places/thread_filter.h"
#include "readers/resident/resident_replay.h"

namespace pymemrun {

// The call tree of a replay's pages. Frames are lines, functions or files; by
// thread or module, these are the outermost frames and lines come below. Pages
// from before tracing are a tree of their own, by what they are part of. Not
// thread safe; the replay must outlive it.
class StackTree {
 public:
  // What `threads` (null: all) does not keep is one frame. REQUIRES: not
  // kMapping.
  StackTree(GroupBy by, const ResidentReplay* replay,
            ThreadFilter* threads = nullptr);
  // Of what holds the same bytes, in other hands.
  StackTree(PlaceTree tree, const ResidentReplay* replay)
      : replay_(*replay), tree_(std::move(tree)) {}

  // The `limit` frames with the most bytes (0: all), each below its caller,
  // and last what has no owner. `resident_bytes` is with all that was called
  // from there, `self_bytes` without. For text a frame is one indented cell.
  Table ToTable(uint64_t limit, TableFormat format) const;
  // "outermost;...;innermost bytes", a line for each stack. What has no owner
  // is a line too, unless it is below 0.
  void PrintCollapsed(OutputBuffer* output) const;

 private:
  uint32_t NodeOf(const PageOwner& owner);

  const ResidentReplay& replay_;
  PlaceTree tree_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_STACK_TREE_H_
