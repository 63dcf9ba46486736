// The largest part of the dominator tree as plain data, level by level: for
// treemaps, and for walking down the tree.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_TREE_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_TREE_H_

#include <cstdint>
#include <vector>

#include "readers/objects/findings/analysis.h"

namespace pymemrun {

inline constexpr uint32_t kNoEdge = ~uint32_t{0};
inline constexpr uint32_t kManyTypes = ~uint32_t{0};

// A box of a treemap: one object, or several small ones of the same parent.
struct RetainedItem {
  NodeId node = kNoNode;  // kNoNode: small children of `parent` together
  uint32_t type = 0;      // of all its objects; or kManyTypes
  uint32_t parent = 0;    // index of an earlier item; 0 for the first one, too
  uint32_t level = 0;     // 0: the first
  uint32_t edge = kNoEdge;  // the parent's own reference to it, if there is one
  uint64_t retained_bytes = 0;
  uint64_t objects = 1;  // number, without those they dominate
};

// Where LargestRetained() stops.
struct RetainedLimits {
  size_t most_items = 1500;
  uint32_t most_levels = 12;
  double least_share = 0.0005;  // of the first item; smaller ones are joined
};

// The first item is `top`. The children of an item retain together what it
// retains minus its own size; but the limits may leave children out. Children
// of one parent are adjacent: the largest first, then small ones of one type,
// then types that are small even together.
std::vector<RetainedItem> LargestRetained(ObjectAnalysis* analysis, NodeId top,
                                          const RetainedLimits& limits);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_TREE_H_
