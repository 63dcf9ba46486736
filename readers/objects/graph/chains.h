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

// Of the chains from the root to `node` the shortest, at most `count`, shortest
// first; of equally long ones in the order of the file. No chain comes to a
// node twice. Weak references are in none. Empty: nothing keeps it alive, or it
// is the root. `distances`: what Distances() gave; empty: they are found.
std::vector<Chain> ShortestChains(const ObjectGraph& graph,
                                  const Parents& parents, NodeId node,
                                  size_t count,
                                  absl::Span<const uint32_t> distances = {});

// How many references each node is away from the root; kNoNode: it is not
// reached.
std::vector<uint32_t> Distances(const ObjectGraph& graph);

// The same of many nodes, one chain each: ShortestChains()'s first. But what a
// module has is reached by the module where there is such a chain: not by a
// frame or a function whose globals these are. 4 bytes for each node, and none
// for parents. Goes no farther from the root than it is asked to. Not thread
// safe.
class RootChains {
 public:
  // The graph must outlive it, and so must `last_edges`: of each node what
  // LastEdgeTo() gave; empty: they are found.
  explicit RootChains(const ObjectGraph& graph,
                      absl::Span<const uint32_t> last_edges = {});
  Chain To(NodeId node);
  // The last edge of the node's chain; kNoChainEdge: it has none.
  static constexpr uint32_t kNoChainEdge = ~uint32_t{0};
  uint32_t LastEdgeTo(NodeId node);

 private:
  void FindNextLevel();
  void Follow(uint32_t edge, std::vector<NodeId>* next);

  const ObjectGraph& graph_;
  GrownArray<uint32_t> edge_to_;   // the last of each node's chain, so far
  std::vector<NodeId> level_;      // the nodes that were found last
  std::vector<uint32_t> globals_;  // edges to them, for later
};

// Whether each node is reached from the root. `without`: when these nodes are
// not there; empty: none.
std::vector<bool> ReachedNodes(const ObjectGraph& graph,
                               const std::vector<bool>& without = {});

// "sys.modules['app'].CACHE['key']", as an expression as far as it is one. Of a
// long chain the middle is left out.
std::string ChainText(const ObjectGraph& graph, const Chain& chain);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_CHAINS_H_
