// Which objects an export leaves out if there are too many for its viewer.
#ifndef PYMEMRUN_READERS_EXPORT_OBJECTS_FOLDED_LEAVES_H_
#define PYMEMRUN_READERS_EXPORT_OBJECTS_FOLDED_LEAVES_H_

#include <cstdint>
#include <vector>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Graphs with more nodes lose their leaves: browsers could not open them.
inline constexpr uint64_t kMostExportedNodes = 5000000;

// If the graph has more than `most_nodes`, an object without references that
// only one other object refers to is counted as part of the other one.
// Immutable.
class FoldedLeaves {
 public:
  FoldedLeaves(const ObjectGraph& graph, uint64_t most_nodes);

  bool IsFolded(NodeId node) const { return is_folded_[node]; }
  // The node's own size, and those of the leaves counted in it.
  uint64_t size_bytes(NodeId node) const { return sizes_[node]; }
  uint64_t count() const { return count_; }

 private:
  std::vector<bool> is_folded_;
  std::vector<uint64_t> sizes_;
  uint64_t count_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_OBJECTS_FOLDED_LEAVES_H_
