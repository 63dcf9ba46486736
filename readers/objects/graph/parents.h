// The references of a graph in reverse: who refers to a node.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_PARENTS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_PARENTS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "readers/objects/graph/graph_arrays.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Memory: 4 bytes for each node and for each reference. Immutable. Does not
// need the graph after construction.
class Parents {
 public:
  using Edges = absl::Span<const uint32_t>;

  explicit Parents(const ObjectGraph& graph);
  // Uses the arrays of an index, which must outlive it. `first` has one value
  // more than there are nodes.
  Parents(absl::Span<const uint32_t> first, absl::Span<const uint32_t> edges);
  // The edges to the node, including weak ones, in the order of their source
  // nodes (ObjectGraph::SourceOf()). Valid as long as this object.
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
