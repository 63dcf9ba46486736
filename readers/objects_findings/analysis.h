// A loaded graph with what is computed from it once it is asked for.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "readers/columns/mapped_column.h"
#include "readers/dominators/dominator_tree.h"
#include "readers/objects/chains.h"
#include "readers/objects/object_graph.h"
#include "readers/objects/parents.h"

namespace pymemrun {

// What an index knows of a graph besides the graph itself: a row for each node,
// or for each reference. See ObjectAnalysis.
struct StoredFindings {
  virtual ~StoredFindings() = default;

  MappedColumn dominators;      // one higher; 0: none
  MappedColumn kept;            // what a node retains besides its own size
  MappedColumn first_parents, parent_edges;  // as Parents has them
  MappedColumn distances, last_edges;        // one higher; 0: none
  std::vector<uint64_t> retained_by_type;
  mutable ColumnDamage damage;
};

// Not thread safe. The graph does not change while it is in here.
class ObjectAnalysis {
 public:
  // `stored`: what is known already; null: nothing is. The graph may be stored
  // there, too.
  explicit ObjectAnalysis(std::unique_ptr<ObjectGraph> graph,
                          std::unique_ptr<StoredFindings> stored = nullptr)
      : stored_(std::move(stored)), graph_(std::move(graph)) {}

  const ObjectGraph& graph() const { return *graph_; }
  // Where what is stored was found to be damaged; null: it was not. What was
  // learned here is then nothing.
  const ColumnDamage* damage() const {
    return stored_ != nullptr && stored_->damage.found ? &stored_->damage
                                                       : nullptr;
  }
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
  NodeId dominator(NodeId node);
  bool IsReached(NodeId node) {
    return node == kRootNode || dominator(node) != kNoNode;
  }
  const DominatorTree::Children& children();
  // The same, to be thrown away.
  DominatorTree::Children MakeChildren();
  // What the node retains. Of one that the root does not reach: its size.
  uint64_t retained(NodeId node);
  // The same of all nodes. REQUIRES: nothing is stored.
  const std::vector<uint32_t>& all_dominators() { return tree().dominators(); }
  const std::vector<uint64_t>& all_retained();
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

  // Forgets what was computed: it takes memory.
  void Forget();

 private:
  const DominatorTree& tree();

  const std::unique_ptr<StoredFindings> stored_;  // outlives the graph
  std::unique_ptr<ObjectGraph> graph_;
  std::unique_ptr<Parents> parents_;
  std::unique_ptr<RootChains> chains_;
  std::unique_ptr<DominatorTree> tree_;
  std::optional<DominatorTree::Children> children_;
  std::vector<uint64_t> retained_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_
