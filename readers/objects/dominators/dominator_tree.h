// Dominators: node d dominates node n if every path from the root to n passes
// through d. So if d was freed, everything that it dominates would be, too.
// Used by pymemobj.
#ifndef PYMEMRUN_READERS_OBJECTS_DOMINATORS_DOMINATOR_TREE_H_
#define PYMEMRUN_READERS_OBJECTS_DOMINATORS_DOMINATOR_TREE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace pymemrun {

// A directed graph. The edges of node n are numbered from first_edge[n] up to,
// but not including, first_edge[n + 1]. Edges of `ignored_kind` do not count.
struct GraphView {
  // One element more than there are nodes.
  absl::Span<const uint32_t> first_edge;
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

// Immutable. Memory is linear: 4 bytes for each node; during construction some
// 24 more for each node that has edges or several parents.
class DominatorTree {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Computes it with the semi-NCA algorithm (Georgiadis, Tarjan, Werneck:
  // Finding Dominators in Practice, 2006), without recursion. REQUIRES: `root`
  // is a node.
  static DominatorTree Of(const GraphView& graph, uint32_t root = 0);

  // The immediate dominator: the nearest node that dominates it. kNone for the
  // root, and for nodes that the root does not reach.
  uint32_t dominator(uint32_t node) const { return dominators_[node]; }
  const std::vector<uint32_t>& dominators() const { return dominators_; }
  bool IsReached(uint32_t node) const {
    return node == root_ || dominators_[node] != kNone;
  }
  // Whether `node` is `dominator`, or is dominated by it.
  bool IsWithin(uint32_t node, uint32_t dominator) const;

  // Turns the nodes' own sizes into retained sizes: the own size plus those of
  // all nodes that it dominates.
  void Retain(std::vector<uint64_t>* sizes) const;

  // The tree downwards: the children of node n, whose immediate dominator is n,
  // are children[first[n]] up to, but not including, children[first[n + 1]].
  struct Children {
    std::vector<uint32_t> first, children;
    absl::Span<const uint32_t> Of(uint32_t node) const {
      return absl::MakeConstSpan(children).subspan(
          first[node], first[node + 1] - first[node]);
    }
  };
  Children ChildrenOf() const { return ChildrenOf(dominators_); }
  // The same from the dominators() of a tree that no longer exists.
  static Children ChildrenOf(absl::Span<const uint32_t> dominators);

 private:
  explicit DominatorTree(uint32_t root) : root_(root) {}

  const uint32_t root_;
  std::vector<uint32_t> dominators_;
  // The nodes that the search visited, each after its dominator. Leaves are
  // left out.
  std::vector<uint32_t> order_;
  std::vector<bool> is_inner_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_DOMINATORS_DOMINATOR_TREE_H_
