// A loaded graph with what is computed from it once it is asked for.
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

// What an index knows of a graph besides the graph itself. Empty arrays:
// nothing.
struct StoredFindings {
  // A value for each node, or for each reference. See ObjectAnalysis.
  GrownArray<uint32_t> dominators;
  GrownArray<uint64_t> retained;
  GrownArray<uint32_t> first_parents, parent_edges;  // as Parents has them
  GrownArray<uint32_t> distances, last_edges;
  std::vector<uint64_t> retained_by_type;
  std::shared_ptr<const void> file;  // where arrays lie, the graph's too

  // Their numbers in an index, beside those of GraphArrays::ForEach().
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

// Not thread safe. The graph does not change while it is in here.
class ObjectAnalysis {
 public:
  // `stored`: what is known already.
  explicit ObjectAnalysis(std::unique_ptr<ObjectGraph> graph,
                          StoredFindings stored = {})
      : stored_(std::move(stored)),
        graph_(std::move(graph)),
        dominators_(stored_.dominators),
        retained_(stored_.retained) {}

  const ObjectGraph& graph() const { return *graph_; }
  // All else stays as it is.
  void TakeAllocations(std::unique_ptr<NodeAllocations> allocations) {
    graph_->TakeAllocations(std::move(allocations));
  }
  const Parents& parents();
  RootChains& chains();
  // See there.
  std::vector<Chain> ShortestChainsTo(NodeId node, size_t count);
  // The nearest node that dominates it; kNoNode of the root, and of what the
  // root does not reach.
  NodeId dominator(NodeId node) { return all_dominators()[node]; }
  bool IsReached(NodeId node) {
    return node == kRootNode || dominator(node) != kNoNode;
  }
  const DominatorTree::Children& children();
  // The same, to be thrown away.
  DominatorTree::Children MakeChildren();
  // What the node retains. Of one that the root does not reach: its size.
  uint64_t retained(NodeId node) { return all_retained()[node]; }
  // The same of all nodes. Valid until Forget().
  absl::Span<const uint32_t> all_dominators() {
    if (dominators_.empty()) dominators_ = tree().dominators();
    return dominators_;
  }
  absl::Span<const uint64_t> all_retained();
  // Of all that the root reaches.
  uint64_t reached_bytes() { return retained(kRootNode); }
  double ShareOf(uint64_t bytes);

  // What objects of a type retain that no other of the type dominates, added
  // up, by type: what would go if each went by itself.
  std::vector<uint64_t> RetainedByType();
  // Whether each node would go if all of `nodes` went together: these, and all
  // that is reached through them alone.
  std::vector<bool> GoneWith(const std::vector<bool>& nodes) const;
  // The same of one node: those that it dominates, and itself, in no order.
  std::vector<NodeId> GoneWithNode(NodeId node);
  // What they come to. `objects`: how many, if not null.
  uint64_t RetainedTogether(const std::vector<bool>& nodes, uint64_t* objects);

  // Forgets what was computed: it takes memory. REQUIRES: nothing is stored.
  void Forget();

 private:
  const DominatorTree& tree();

  const StoredFindings stored_;  // outlives the graph
  std::unique_ptr<ObjectGraph> graph_;
  std::unique_ptr<Parents> parents_;
  std::unique_ptr<RootChains> chains_;
  std::unique_ptr<DominatorTree> tree_;
  std::optional<DominatorTree::Children> children_;
  std::vector<uint64_t> own_retained_;
  // In what is stored, or in what was made.
  absl::Span<const uint32_t> dominators_;
  absl::Span<const uint64_t> retained_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_
