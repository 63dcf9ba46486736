// Objects whose memory CPython keeps when they go, for the next of their type.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_FREE_LISTS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_FREE_LISTS_H_

#include <vector>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Says which objects may lie in a block that an earlier object was allocated
// with: then what allocated the block need not be what made the object.
class FreeLists {
 public:
  // All nodes must be there. The graph must outlive it. Of a dump that names no
  // CPython, each type counts that has such a list in some version.
  explicit FreeLists(const ObjectGraph* graph);

  bool MayHold(NodeId node) const;
  // The same of the block beside it.
  bool MayHoldBeside(NodeId node, const BesideBlock& beside) const;

 private:
  const ObjectGraph& graph_;
  std::vector<bool> types_;  // by type: its objects have a list
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_FREE_LISTS_H_
