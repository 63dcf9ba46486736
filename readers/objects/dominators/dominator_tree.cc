#include "readers/objects/dominators/dominator_tree.h"

#include <algorithm>
#include <utility>

namespace pymemrun {
namespace {

constexpr uint32_t kNone = DominatorTree::kNone;

// Semi-NCA for the nodes that have edges or several parents. A leaf with one
// parent is dominated by it, so leaves, which are most nodes of a heap, are
// left out. Nodes are numbered in the order of a depth first search, so a
// node's dominators have lower numbers.
//
// The semi-dominator of w is the lowest v from which a path leads to w over
// nodes numbered above w. It need not dominate w. But the immediate dominator
// of w is the nearest common ancestor, in the dominator tree, of w's parent and
// its semi-dominator.
class SemiNca {
 public:
  SemiNca(const GraphView& graph, uint32_t root) : graph_(graph), root_(root) {}

  void Run() {
    FindLeaves();
    Search();
    ListParents();
    number_ = {};
    FindDominators();
  }
  // The nodes in the order of the search.
  std::vector<uint32_t>& order() { return order_; }
  // The number's immediate dominator, as a node.
  uint32_t dominator(uint32_t number) const {
    return order_[dominator_[number]];
  }
  bool is_leaf(uint32_t node) const { return is_leaf_[node]; }

 private:
  template <typename Visit>
  void ForEdges(uint32_t node, Visit visit) const {
    for (uint32_t e = graph_.first_edge[node]; e < graph_.first_edge[node + 1];
         ++e) {
      if (!graph_.Ignores(e)) visit(graph_.target[e]);
    }
  }

  // A leaf has no edges, and exactly one edge leads to it.
  void FindLeaves() {
    const uint32_t nodes = graph_.nodes();
    is_leaf_.assign(nodes, false);
    std::vector<bool> has_parent(nodes), has_several(nodes);
    for (uint32_t node = 0; node < nodes; ++node) {
      ForEdges(node, [&](uint32_t target) {
        if (has_parent[target]) has_several[target] = true;
        has_parent[target] = true;
        is_leaf_[node] = true;  // for now: it has an edge
      });
    }
    for (uint32_t node = 0; node < nodes; ++node) {
      is_leaf_[node] = !is_leaf_[node] && !has_several[node] && node != root_;
    }
  }

  // Depth first, with an explicit stack: chains may be as long as the graph.
  void Search() {
    struct Step {
      uint32_t number, next_edge;
    };
    number_.assign(graph_.nodes(), kNone);
    std::vector<Step> stack;
    const auto enter = [&](uint32_t node, uint32_t parent) {
      const auto number = static_cast<uint32_t>(order_.size());
      number_[node] = number;
      order_.push_back(node);
      parent_.push_back(parent);
      stack.push_back({number, graph_.first_edge[node]});
    };
    enter(root_, 0);
    while (!stack.empty()) {
      Step& step = stack.back();
      if (step.next_edge == graph_.first_edge[order_[step.number] + 1]) {
        stack.pop_back();
        continue;
      }
      const uint32_t edge = step.next_edge++;
      const uint32_t target = graph_.target[edge];
      if (graph_.Ignores(edge) || is_leaf_[target] ||
          number_[target] != kNone) {
        continue;
      }
      enter(target, step.number);
    }
  }

  // Lists the parents of each number by counting sort: two passes over the
  // edges.
  void ListParents() {
    const auto count = static_cast<uint32_t>(order_.size());
    first_parent_.assign(count + 1, 0);
    const auto for_all = [&](auto visit) {
      for (uint32_t number = 0; number < count; ++number) {
        ForEdges(order_[number], [&](uint32_t target) {
          if (!is_leaf_[target]) visit(number, number_[target]);
        });
      }
    };
    for_all([&](uint32_t, uint32_t to) { ++first_parent_[to]; });
    uint32_t sum = 0;
    for (uint32_t& first : first_parent_) first = sum += first;
    parents_.resize(sum);
    for_all([&](uint32_t from, uint32_t to) {
      parents_[--first_parent_[to]] = from;
    });
  }

  // The number with the lowest semi-dominator on the path from `number` up to
  // the root of its tree in the forest of numbers from `linked` on. Compresses
  // the path: later calls are shorter.
  uint32_t Evaluate(uint32_t number, uint32_t linked) {
    if (parent_[number] < linked) return label_[number];
    way_.clear();
    for (uint32_t at = number; parent_[at] >= linked; at = parent_[at]) {
      way_.push_back(at);
    }
    // The last one is just below the node where the path ends.
    uint32_t above = parent_[way_.back()];
    for (size_t i = way_.size(); i-- > 0;) {
      const uint32_t at = way_[i];
      if (semi_[label_[above]] < semi_[label_[at]]) label_[at] = label_[above];
      parent_[at] = parent_[above];
      above = at;
    }
    return label_[number];
  }

  // First the semi-dominators, from the last number to the first, each by its
  // parents. Then the dominators in ascending order: the nearest ancestor that
  // is not above the semi-dominator.
  void FindDominators() {
    const auto count = static_cast<uint32_t>(order_.size());
    dominator_ = parent_;
    semi_.resize(count);
    label_.resize(count);
    for (uint32_t i = 0; i < count; ++i) semi_[i] = label_[i] = i;
    for (uint32_t w = count; w-- > 1;) {
      semi_[w] = dominator_[w];
      for (uint32_t i = first_parent_[w]; i < first_parent_[w + 1]; ++i) {
        const uint32_t semi = semi_[Evaluate(parents_[i], w + 1)];
        semi_[w] = std::min(semi_[w], semi);
      }
    }
    for (uint32_t w = 1; w < count; ++w) {
      while (dominator_[w] > semi_[w])
        dominator_[w] = dominator_[dominator_[w]];
    }
  }

  const GraphView graph_;
  const uint32_t root_;
  std::vector<bool> is_leaf_;
  std::vector<uint32_t> number_;  // by node; freed once parents are listed
  // By number. `parent_` is the search tree; Evaluate() compresses it.
  std::vector<uint32_t> order_, parent_, first_parent_, parents_;
  std::vector<uint32_t> dominator_, semi_, label_;
  std::vector<uint32_t> way_;
};

}  // namespace

// The search knows inner nodes by number. Leaves are added here: their only
// parent dominates them.
DominatorTree DominatorTree::Of(const GraphView& graph, uint32_t root) {
  SemiNca search(graph, root);
  search.Run();
  DominatorTree tree(root);
  const std::vector<uint32_t>& order = search.order();
  tree.dominators_.assign(graph.nodes(), kNone);
  tree.is_inner_.assign(graph.nodes(), false);
  for (uint32_t number = 0; number < order.size(); ++number) {
    const uint32_t node = order[number];
    tree.is_inner_[node] = true;
    if (number > 0) tree.dominators_[node] = search.dominator(number);
    // The leaves of this node, which the search left out.
    for (uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1];
         ++e) {
      if (!graph.Ignores(e) && search.is_leaf(graph.target[e])) {
        tree.dominators_[graph.target[e]] = node;
      }
    }
  }
  tree.order_ = std::move(search.order());
  return tree;
}

// Takes as long as the node is deep in the tree.
bool DominatorTree::IsWithin(uint32_t node, uint32_t dominator) const {
  for (; node != kNone; node = dominators_[node]) {
    if (node == dominator) return true;
  }
  return false;
}

void DominatorTree::Retain(std::vector<uint64_t>* sizes) const {
  // Leaves first: they add only to their dominator, which is an inner
  // node.
  for (uint32_t node = 0; node < dominators_.size(); ++node) {
    if (!is_inner_[node] && dominators_[node] != kNone) {
      (*sizes)[dominators_[node]] += (*sizes)[node];
    }
  }
  // In reverse order each node is complete before it is added to its dominator.
  for (size_t i = order_.size(); i-- > 1;) {
    (*sizes)[dominators_[order_[i]]] += (*sizes)[order_[i]];
  }
}

DominatorTree::Children DominatorTree::ChildrenOf(
    absl::Span<const uint32_t> dominators) {
  Children children;
  const size_t nodes = dominators.size();
  children.first.assign(nodes + 1, 0);
  for (const uint32_t dominator : dominators) {
    if (dominator != kNone) ++children.first[dominator];
  }
  uint32_t sum = 0;
  // Counting sort by dominator.
  for (uint32_t& first : children.first) first = sum += first;
  children.children.resize(sum);
  for (size_t node = nodes; node-- > 0;) {
    if (dominators[node] == kNone) continue;
    children.children[--children.first[dominators[node]]] =
        static_cast<uint32_t>(node);
  }
  return children;
}

}  // namespace pymemrun
