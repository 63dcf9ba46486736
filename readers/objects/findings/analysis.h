// A loaded graph, with results that are computed when they are first needed.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "readers/objects/dominators/dominator_tree.h"
#include "readers/objects/graph/chains.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/objects/graph/parents.h"

namespace pymemrun {

// The results in an index, besides the graph. Empty arrays: not stored.
struct StoredFindings {
  // A value for each node or reference. See ObjectAnalysis.
  GrownArray<uint32_t> dominators;
  GrownArray<uint64_t> retained;
  GrownArray<uint32_t> first_parents, parent_edges;  // as in Parents
  GrownArray<uint32_t> distances, last_edges;
  std::vector<uint64_t> retained_by_type;
  std::shared_ptr<const void> file;  // owns the arrays' memory, and the graph's

  // Numbers of the arrays in an index, after those of GraphArrays::ForEach().
  enum Number : uint32_t {
    kDominators = 32,
    kRetained,
    kFirstParents,
    kParentEdges,
    kDistances,
    kLastEdges
  };
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(kDominators, &dominators);
    visit(kRetained, &retained);
    visit(kFirstParents, &first_parents);
    visit(kParentEdges, &parent_edges);
    visit(kDistances, &distances);
    visit(kLastEdges, &last_edges);
  }
};

// Not thread safe. The graph must not change.
class ObjectAnalysis {
 public:
  // `stored`: results that are already known.
  explicit ObjectAnalysis(std::unique_ptr<ObjectGraph> graph,
                          StoredFindings stored = {})
      : stored_(std::move(stored)),
        graph_(std::move(graph)),
        dominators_(stored_.dominators),
        retained_(stored_.retained) {}

  const ObjectGraph& graph() const { return *graph_; }
  // Results that were computed stay valid.
  void TakeAllocations(std::unique_ptr<NodeAllocations> allocations) {
    graph_->TakeAllocations(std::move(allocations));
  }
  const Parents& parents();
  RootChains& chains();
  // See ShortestChains().
  std::vector<Chain> ShortestChainsTo(NodeId node, size_t count);
  // The immediate dominator; kNoNode for the root and for nodes it does not
  // reach.
  NodeId dominator(NodeId node) { return all_dominators()[node]; }
  bool IsReached(NodeId node) {
    return node == kRootNode || dominator(node) != kNoNode;
  }
  const DominatorTree::Children& children();
  // The same, not kept.
  DominatorTree::Children MakeChildren();
  // The bytes that the node retains; its own size if the root does not reach
  // it.
  uint64_t retained(NodeId node) { return all_retained()[node]; }
  // All nodes. Valid until Forget().
  absl::Span<const uint32_t> all_dominators() {
    if (dominators_.empty()) dominators_ = tree().dominators();
    return dominators_;
  }
  absl::Span<const uint64_t> all_retained();
  // The bytes of all nodes that the root reaches.
  uint64_t reached_bytes() { return retained(kRootNode); }
  double ShareOf(uint64_t bytes);

  // By type: the sum of what its objects retain, without objects dominated by
  // another one of the type. So it is what would be freed if each was freed
  // alone.
  std::vector<uint64_t> RetainedByType();
  // By node: whether it would be freed if all of `nodes` were: it is one of
  // them, or only reached through them.
  std::vector<bool> GoneWith(const std::vector<bool>& nodes) const;
  // The same for one node: itself and the nodes it dominates, in no order.
  std::vector<NodeId> GoneWithNode(NodeId node);
  // The bytes of these. `objects`, unless null, becomes their number.
  uint64_t RetainedTogether(const std::vector<bool>& nodes, uint64_t* objects);

  // Drops computed results to free memory. REQUIRES: nothing is stored.
  void Forget();

 private:
  const DominatorTree& tree();

  const StoredFindings stored_;  // must outlive the graph
  std::unique_ptr<ObjectGraph> graph_;
  std::unique_ptr<Parents> parents_;
  std::unique_ptr<RootChains> chains_;
  std::unique_ptr<DominatorTree> tree_;
  std::optional<DominatorTree::Children> children_;
  std::vector<uint64_t> own_retained_;
  // Views of stored or computed values.
  absl::Span<const uint32_t> dominators_;
  absl::Span<const uint64_t> retained_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_
