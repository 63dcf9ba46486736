// Dominators: node d dominates node n if each way from the root to n leads
// through d. So all that d dominates would go with d. Used by pymemobj.
#ifndef PYMEMRUN_READERS_OBJECTS_DOMINATORS_DOMINATOR_TREE_H_
#define PYMEMRUN_READERS_OBJECTS_DOMINATORS_DOMINATOR_TREE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace pymemrun {

// A directed graph. The edges of node n are those from first_edge[n] on, up to
// first_edge[n + 1]. Edges of `ignored_kind` count as none.
struct GraphView {
  absl::Span<const uint32_t> first_edge;  // one more than there are nodes
  absl::Span<const uint32_t> target;
  absl::Span<const uint8_t> kind;  // empty: no edge is ignored
  uint8_t ignored_kind = 0;

  uint32_t nodes() const {
    return static_cast<uint32_t>(first_edge.size() - 1);
  }
  bool Ignores(uint32_t edge) const {
    return !kind.empty() && kind[edge] == ignored_kind;
  }
};

// Immutable. Linear in memory: 4 bytes for each node, and while it is made some
// 24 for each node that has edges or several parents.
class DominatorTree {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // By the semi-NCA algorithm (Georgiadis, Tarjan, Werneck: Finding Dominators
  // in Practice, 2006), without recursion. REQUIRES: `root` is a node.
  static DominatorTree Of(const GraphView& graph, uint32_t root = 0);

  // The nearest node that dominates it, kNone of the root and of what the root
  // does not reach.
  uint32_t dominator(uint32_t node) const { return dominators_[node]; }
  const std::vector<uint32_t>& dominators() const { return dominators_; }
  bool IsReached(uint32_t node) const {
    return node == root_ || dominators_[node] != kNone;
  }
  // Whether `node` is `dominator`, or dominated by it.
  bool IsWithin(uint32_t node, uint32_t dominator) const;

  // Turns each node's own size into what it retains: its own size, and those of
  // all that it dominates.
  void Retain(std::vector<uint64_t>* sizes) const;

  // Of each node the nodes whose nearest dominator it is: those of node n are
  // children[first[n]] up to children[first[n + 1]].
  struct Children {
    std::vector<uint32_t> first, children;
    absl::Span<const uint32_t> Of(uint32_t node) const {
      return absl::MakeConstSpan(children).subspan(
          first[node], first[node + 1] - first[node]);
    }
  };
  Children ChildrenOf() const { return ChildrenOf(dominators_); }
  // The same of the dominators of a tree that is not there any more.
  static Children ChildrenOf(absl::Span<const uint32_t> dominators);

 private:
  explicit DominatorTree(uint32_t root) : root_(root) {}

  const uint32_t root_;
  std::vector<uint32_t> dominators_;
  // The nodes that the search went through, each after its dominator; without
  // leaves, which were left out.
  std::vector<uint32_t> order_;
  std::vector<bool> is_inner_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_DOMINATORS_DOMINATOR_TREE_H_
