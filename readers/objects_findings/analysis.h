// A loaded graph with what is computed from it once it is asked for.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "readers/dominators/dominator_tree.h"
#include "readers/objects/chains.h"
#include "readers/objects/object_graph.h"
#include "readers/objects/parents.h"

namespace pymemrun {

// Not thread safe. The graph does not change while it is in here.
class ObjectAnalysis {
 public:
  explicit ObjectAnalysis(std::unique_ptr<ObjectGraph> graph)
      : graph_(std::move(graph)) {}

  const ObjectGraph& graph() const { return *graph_; }
  // All else stays as it is.
  void TakeAllocations(std::unique_ptr<NodeAllocations> allocations) {
    graph_->TakeAllocations(std::move(allocations));
  }
  const Parents& parents();
  RootChains& chains();
  const DominatorTree& tree();
  const DominatorTree::Children& children();
  // What each node retains. Of a node that the root does not reach: its size.
  const std::vector<uint64_t>& retained();
  uint64_t retained(NodeId node) { return retained()[node]; }
  // Of all that the root reaches.
  uint64_t reached_bytes() { return retained()[kRootNode]; }
  double ShareOf(uint64_t bytes);

  // What objects of a type retain that no other of the type dominates, added
  // up, by type: what would go if each went by itself.
  std::vector<uint64_t> RetainedByType();
  // Whether each node would go if all of `nodes` went together: these, and all
  // that is reached through them alone.
  std::vector<bool> GoneWith(const std::vector<bool>& nodes) const;
  // What they come to. `objects`: how many, if not null.
  uint64_t RetainedTogether(const std::vector<bool>& nodes, uint64_t* objects);

 private:
  std::unique_ptr<ObjectGraph> graph_;
  std::unique_ptr<Parents> parents_;
  std::unique_ptr<RootChains> chains_;
  std::unique_ptr<DominatorTree> tree_;
  std::optional<DominatorTree::Children> children_;
  std::vector<uint64_t> retained_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_ANALYSIS_H_
