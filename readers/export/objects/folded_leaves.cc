#include "readers/export/objects/folded_leaves.h"

#include "readers/objects/graph/parents.h"

namespace pymemrun {

FoldedLeaves::FoldedLeaves(const ObjectGraph& graph, uint64_t most_nodes)
    : is_folded_(graph.nodes()), sizes_(graph.nodes()) {
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    sizes_[node] = graph.size_bytes(node);
  }
  if (graph.nodes() <= most_nodes) return;
  const Parents parents(graph);
  // Node 0 is the root. Strings and numbers are most of such leaves. One that
  // only a weak reference names stays a node.
  for (NodeId node = 1; node < graph.nodes(); ++node) {
    if (graph.degree(node) != 0 || parents.count(node) != 1) continue;
    const uint32_t edge = parents.EdgesTo(node)[0];
    if (graph.kind(edge) == EDGE_WEAK) continue;
    is_folded_[node] = true;
    sizes_[graph.SourceOf(edge)] += sizes_[node];
    ++count_;
  }
}

}  // namespace pymemrun
