// Who retains more, or less, than in an older dump of the same process.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_DIFF_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_DIFF_H_

#include <cstdint>
#include <vector>

#include "readers/objects_findings/analysis.h"

namespace pymemrun {

// An object that retains more or less than before, or is in one dump alone.
struct RetainedDiff {
  NodeId node = kNoNode;      // in the new dump; kNoNode: it is gone
  NodeId old_node = kNoNode;  // in the old dump; kNoNode: it is new
  uint64_t bytes = 0;         // that it retains in the new dump
  uint64_t old_bytes = 0;
  // What it retains more, without what rows of objects below it say.
  int64_t grown_bytes = 0;
};

// Goes down the tree of dominators wherever `least_bytes` or more were or are
// retained, and lists what changed by as much. So each row is where it
// accumulates, and nothing is counted twice: with what is below `least_bytes`
// the rows add up to the whole change. Those that changed most first. REQUIRES:
// both are of one process.
std::vector<RetainedDiff> DiffRetained(ObjectAnalysis* older,
                                       ObjectAnalysis* newer,
                                       uint64_t least_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_DIFF_H_
