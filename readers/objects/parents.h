// The references of a graph backwards: who refers to a node.
#ifndef PYMEMRUN_READERS_OBJECTS_PARENTS_H_
#define PYMEMRUN_READERS_OBJECTS_PARENTS_H_

#include <cstdint>

#include "readers/columns/number_column.h"
#include "readers/objects/object_graph.h"

namespace pymemrun {

// 4 bytes for each node, and for each reference. Immutable; the graph may go.
class Parents {
 public:
  using Edges = ColumnSlice<uint32_t>;

  explicit Parents(const ObjectGraph& graph);
  // Those that lie in an index. `first` has a row for each node, and one more.
  Parents(const MappedColumn* first, const MappedColumn* edges);
  // The edges that lead to the node, weak ones too, in the order of the nodes
  // that they come from: ObjectGraph::SourceOf(). Valid as long as this.
  Edges EdgesTo(NodeId node) const {
    return {&edges_, first_[node], first_[node + 1]};
  }
  uint32_t count(NodeId node) const { return first_[node + 1] - first_[node]; }
  // As an index has it.
  uint32_t first(NodeId node) const { return first_[node]; }
  uint32_t edge(size_t at) const { return edges_[at]; }

 private:
  NumberColumn<uint32_t> first_, edges_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_PARENTS_H_
