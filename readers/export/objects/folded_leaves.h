// Which objects an export leaves out where there are too many for its viewer.
#ifndef PYMEMRUN_READERS_EXPORT_OBJECTS_FOLDED_LEAVES_H_
#define PYMEMRUN_READERS_EXPORT_OBJECTS_FOLDED_LEAVES_H_

#include <cstdint>
#include <vector>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Above so many nodes an export leaves out leaves: browsers cannot open it.
inline constexpr uint64_t kMostExportedNodes = 5000000;

// Where the graph has more nodes than `most_nodes`, an object without
// references, to which a single other object refers, is counted in the other
// one. Immutable.
class FoldedLeaves {
 public:
  FoldedLeaves(const ObjectGraph& graph, uint64_t most_nodes);

  bool IsFolded(NodeId node) const { return is_folded_[node]; }
  // Its own, and those of the leaves that are counted in it.
  uint64_t size_bytes(NodeId node) const { return sizes_[node]; }
  uint64_t count() const { return count_; }

 private:
  std::vector<bool> is_folded_;
  std::vector<uint64_t> sizes_;
  uint64_t count_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_OBJECTS_FOLDED_LEAVES_H_
