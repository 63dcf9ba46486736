// The largest part of the tree of dominators as plain data, level by level: for
// maps of it, and for whoever walks down in it.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_TREE_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_TREE_H_

#include <cstdint>
#include <vector>

#include "readers/objects/findings/analysis.h"

namespace pymemrun {

inline constexpr uint32_t kNoEdge = ~uint32_t{0};
inline constexpr uint32_t kManyTypes = ~uint32_t{0};

struct RetainedItem {
  NodeId node = kNoNode;    // kNoNode: small ones of `parent` together
  uint32_t type = 0;        // of all; or kManyTypes
  uint32_t parent = 0;      // index of an item before it; 0 of the first, too
  uint32_t level = 0;       // 0: the first
  uint32_t edge = kNoEdge;  // by which the parent itself refers to it
  uint64_t retained_bytes = 0;
  uint64_t objects = 1;  // that it stands for, without what these dominate
};

struct RetainedLimits {
  size_t most_items = 1500;
  uint32_t most_levels = 12;
  double least_share = 0.0005;  // of the first; smaller ones are put together
};

// The first item is `top`. What an item's children retain together is what it
// retains, less its own size; an item may have no children here because of the
// limits. The items of one parent stand together: the largest first, then small
// ones of one type, at last those of types that are small even together.
std::vector<RetainedItem> LargestRetained(ObjectAnalysis* analysis, NodeId top,
                                          const RetainedLimits& limits);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_RETAINED_TREE_H_
