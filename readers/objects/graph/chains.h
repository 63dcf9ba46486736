// The shortest chains of references that keep an object alive, and their text.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_CHAINS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_CHAINS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "readers/objects/graph/graph_arrays.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/objects/graph/parents.h"

namespace pymemrun {

// The edges of a chain from the root to a node, in order.
using Chain = std::vector<uint32_t>;

// The shortest chains from the root to `node`, at most `count`, shortest first;
// chains of equal length are in the order of the file. No chain visits a node
// twice, or has weak references. Empty if nothing keeps the node alive, or it
// is the root. `distances`: the result of Distances(); empty: computes it.
std::vector<Chain> ShortestChains(const ObjectGraph& graph,
                                  const Parents& parents, NodeId node,
                                  size_t count,
                                  absl::Span<const uint32_t> distances = {});

// The number of references from the root to each node; kNoNode: not reached.
std::vector<uint32_t> Distances(const ObjectGraph& graph);

// One chain for each of many nodes: the first of ShortestChains(). But what a
// module has is reached through the module, if there is such a chain, rather
// than through a frame or function with these globals. Memory: 4 bytes for each
// node, without parents. Searches no farther from the root than needed. Not
// thread safe.
class RootChains {
 public:
  // `last_edges`: LastEdgeTo() of each node; empty: computes it. It and the
  // graph must outlive the object.
  explicit RootChains(const ObjectGraph& graph,
                      absl::Span<const uint32_t> last_edges = {});
  Chain To(NodeId node);
  // The last edge of the node's chain; kNoChainEdge: it has no chain.
  static constexpr uint32_t kNoChainEdge = ~uint32_t{0};
  uint32_t LastEdgeTo(NodeId node);

 private:
  void FindNextLevel();
  void Follow(uint32_t edge, std::vector<NodeId>* next);

  const ObjectGraph& graph_;
  GrownArray<uint32_t> edge_to_;   // last edge of each node's chain so far
  std::vector<NodeId> level_;      // the nodes found last
  std::vector<uint32_t> globals_;  // edges to globals, to follow later
};

// By node: whether the root reaches it. `without`: nodes to ignore; empty:
// none.
std::vector<bool> ReachedNodes(const ObjectGraph& graph,
                               const std::vector<bool>& without = {});

// "sys.modules['app'].CACHE['key']", a Python expression as far as possible.
// The middle of a long chain is left out.
std::string ChainText(const ObjectGraph& graph, const Chain& chain);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_CHAINS_H_
