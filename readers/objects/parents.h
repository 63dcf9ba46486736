// The references of a graph backwards: who refers to a node.
#ifndef PYMEMRUN_READERS_OBJECTS_PARENTS_H_
#define PYMEMRUN_READERS_OBJECTS_PARENTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "readers/objects/object_graph.h"

namespace pymemrun {

// 4 bytes for each node, and for each reference. Immutable; the graph may go.
class Parents {
 public:
  explicit Parents(const ObjectGraph& graph);
  // The edges that lead to the node, weak ones too, in the order of the nodes
  // that they come from: ObjectGraph::SourceOf().
  absl::Span<const uint32_t> EdgesTo(NodeId node) const {
    return absl::MakeConstSpan(edges_).subspan(first_[node],
                                               first_[node + 1] - first_[node]);
  }
  uint32_t count(NodeId node) const { return first_[node + 1] - first_[node]; }

 private:
  std::vector<uint32_t> first_, edges_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_PARENTS_H_
