// The references of a graph backwards: who refers to a node.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_PARENTS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_PARENTS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "readers/objects/graph/graph_arrays.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// 4 bytes for each node, and for each reference. Immutable; the graph may go.
class Parents {
 public:
  using Edges = absl::Span<const uint32_t>;

  explicit Parents(const ObjectGraph& graph);
  // Those that lie in an index, which must outlive it. `first` has a value for
  // each node, and one more.
  Parents(absl::Span<const uint32_t> first, absl::Span<const uint32_t> edges);
  // The edges that lead to the node, weak ones too, in the order of the nodes
  // that they come from: ObjectGraph::SourceOf(). Valid as long as this.
  Edges EdgesTo(NodeId node) const {
    return {edges_.data() + first_[node], count(node)};
  }
  uint32_t count(NodeId node) const { return first_[node + 1] - first_[node]; }
  absl::Span<const uint32_t> first() const { return first_; }
  absl::Span<const uint32_t> edges() const { return edges_; }

 private:
  GrownArray<uint32_t> first_, edges_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_PARENTS_H_
