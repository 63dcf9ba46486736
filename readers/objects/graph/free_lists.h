// Objects whose memory CPython keeps after they are freed, for the next of
// their type.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_FREE_LISTS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_FREE_LISTS_H_

#include <vector>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Finds objects that may be in a block allocated for an earlier object. The
// allocation of the block is then not that of the object.
class FreeLists {
 public:
  // REQUIRES: the graph has all nodes, and outlives this object. If the dump
  // does not name its CPython version, types with a free list in any version
  // count.
  explicit FreeLists(const ObjectGraph* graph);

  bool MayHold(NodeId node) const;
  // The same for the block beside the node.
  bool MayHoldBeside(NodeId node, const BesideBlock& beside) const;

 private:
  const ObjectGraph& graph_;
  std::vector<bool> types_;  // by type: its objects have a free list
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_FREE_LISTS_H_
