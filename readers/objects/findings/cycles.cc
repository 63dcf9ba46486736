#include "readers/objects/findings/cycles.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "readers/objects/graph/dump_loader.h"

namespace pymemrun {
namespace {

// The nodes that the root reaches without kNotReached. The others are alive
// only because the cycle collector has not run yet, or because C code holds
// them.
std::vector<bool> ReachedOtherwise(const ObjectGraph& graph) {
  std::vector<bool> reached(graph.nodes());
  std::vector<NodeId> left = {kRootNode};
  reached[kRootNode] = true;
  while (!left.empty()) {
    const NodeId node = left.back();
    left.pop_back();
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      if (graph.kind(e) == EDGE_WEAK || reached[graph.target(e)]) continue;
      // The edge that stands for the cycle collector's knowledge.
      if (node == kRootNode && graph.edge_name(e) == kNotReached) continue;
      reached[graph.target(e)] = true;
      left.push_back(graph.target(e));
    }
  }
  return reached;
}

// Tarjan's algorithm for strongly connected components (Depth-First Search and
// Linear Graph Algorithms, 1972), iterative, as chains may be as long as the
// graph.
class CycleSearch {
 public:
  CycleSearch(const ObjectGraph& graph, const std::vector<bool>& left_out)
      : graph_(graph),
        left_out_(left_out),
        number_(graph.nodes()),
        low_(graph.nodes()),
        is_open_(graph.nodes()) {}

  std::vector<Cycle> Find() {
    // A new search for each node that no earlier search reached.
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (!left_out_[node] && number_[node] == 0) Search(node);
    }
    return std::move(cycles_);
  }

 private:
  struct Step {
    NodeId node;
    uint32_t next_edge;
  };

  void Enter(NodeId node) {
    number_[node] = low_[node] = ++last_number_;
    open_.push_back(node);
    is_open_[node] = true;
    way_.push_back({node, graph_.first_edge(node)});
  }

  void Search(NodeId start) {
    Enter(start);
    while (!way_.empty()) {
      Step& step = way_.back();
      const NodeId node = step.node;
      // The next edge of the innermost node.
      if (step.next_edge < graph_.first_edge(node + 1)) {
        const uint32_t edge = step.next_edge++;
        const NodeId target = graph_.target(edge);
        if (left_out_[target] || graph_.kind(edge) == EDGE_WEAK) continue;
        if (number_[target] == 0) {
          Enter(target);
        } else if (is_open_[target]) {
          // The target is in a component that is still open: this node reaches
          // back to it.
          low_[node] = std::min(low_[node], number_[target]);
        }
        continue;
      }
      way_.pop_back();
      if (!way_.empty()) {
        NodeId above = way_.back().node;
        low_[above] = std::min(low_[above], low_[node]);
      }
      // No way back above this node: everything above it on the stack is its
      // component.
      if (low_[node] == number_[node]) Close(node);
    }
  }

  // Removes a whole component: it is above `first`, the node that was entered
  // first, on the stack of open nodes.
  void Close(NodeId first) {
    Cycle cycle;
    NodeId node;
    do {
      node = open_.back();
      open_.pop_back();
      is_open_[node] = false;
      cycle.nodes.push_back(node);
    } while (node != first);
    // A single node is a cycle only if it refers to itself.
    if (cycle.nodes.size() == 1 && !RefersToItself(first)) return;
    std::sort(cycle.nodes.begin(), cycle.nodes.end());
    for (const NodeId one : cycle.nodes) {
      cycle.size_bytes += graph_.size_bytes(one);
    }
    cycles_.push_back(std::move(cycle));
  }

  bool RefersToItself(NodeId node) const {
    for (uint32_t e = graph_.first_edge(node); e < graph_.first_edge(node + 1);
         ++e) {
      if (graph_.target(e) == node && graph_.kind(e) != EDGE_WEAK) return true;
    }
    return false;
  }

  const ObjectGraph& graph_;
  const std::vector<bool>& left_out_;
  std::vector<uint32_t> number_, low_;
  std::vector<bool> is_open_;
  std::vector<NodeId> open_;
  std::vector<Step> way_;
  std::vector<Cycle> cycles_;
  uint32_t last_number_ = 0;
};

}  // namespace

namespace {

// Groups cycles by types, then follows what they lead to. Nodes are marked as
// visited, so that each is counted once, for the first group that leads to it.
class CycleGroups {
 public:
  // Marks in `left_out` every node that it visits.
  CycleGroups(const ObjectGraph& graph, std::vector<bool> left_out)
      : graph_(graph), left_out_(std::move(left_out)) {}

  std::vector<CycleGroup> Of(const std::vector<Cycle>& cycles) {
    absl::flat_hash_map<std::vector<uint32_t>, Members> groups;
    for (const Cycle& cycle : cycles) {
      std::vector<uint32_t> types;
      for (const NodeId node : cycle.nodes) {
        types.push_back(graph_.type(node));
        left_out_[node] = true;
      }
      std::sort(types.begin(), types.end());
      types.erase(std::unique(types.begin(), types.end()), types.end());
      Add(cycle, &groups[types]);
    }
    // Groups in the order of their bytes: the largest gets what several lead
    // to.
    std::vector<Members> order;
    for (auto& [types, members] : groups) order.push_back(std::move(members));
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(b.group.size_bytes, a.group.first) <
             std::pair(a.group.size_bytes, b.group.first);
    });
    std::vector<CycleGroup> found;
    for (Members& members : order) found.push_back(Finished(&members));
    return found;
  }

 private:
  struct Members {
    CycleGroup group;
    std::vector<const Cycle*> cycles;
    absl::flat_hash_map<uint32_t, uint64_t> objects;  // by type
  };

  void Add(const Cycle& cycle, Members* to) const {
    to->cycles.push_back(&cycle);
    if (to->group.circles++ == 0) to->group.first = cycle.nodes[0];
    to->group.objects += cycle.nodes.size();
    to->group.size_bytes += cycle.size_bytes;
    for (const NodeId node : cycle.nodes) ++to->objects[graph_.type(node)];
  }

  // Counts the types, then follows all references out of the group's cycles.
  CycleGroup Finished(Members* members) {
    CycleGroup group = members->group;
    std::vector<std::pair<uint64_t, uint32_t>> types;
    for (const auto& [type, objects] : members->objects) {
      types.push_back({~objects, type});
    }
    std::sort(types.begin(), types.end());
    for (const auto& [objects, type] : types) group.types.push_back(type);
    std::vector<NodeId> left;
    for (const Cycle* cycle : members->cycles) {
      left.insert(left.end(), cycle->nodes.begin(), cycle->nodes.end());
    }
    while (!left.empty()) {
      const NodeId node = left.back();
      left.pop_back();
      for (uint32_t e = graph_.first_edge(node);
           e < graph_.first_edge(node + 1); ++e) {
        const NodeId target = graph_.target(e);
        if (graph_.kind(e) == EDGE_WEAK || left_out_[target]) continue;
        left_out_[target] = true;
        ++group.hanging_objects;
        group.hanging_bytes += graph_.size_bytes(target);
        left.push_back(target);
      }
    }
    return group;
  }

  const ObjectGraph& graph_;
  std::vector<bool> left_out_;
};

}  // namespace

// Linear time, apart from sorting.
Cycles FindCycles(const ObjectGraph& graph) {
  const std::vector<bool> reached = ReachedOtherwise(graph);
  Cycles found;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (reached[node] || graph.is_synthetic(node)) continue;
    ++found.objects;
    found.size_bytes += graph.size_bytes(node);
  }
  if (found.objects == 0) return found;
  found.cycles = CycleSearch(graph, reached).Find();
  std::sort(found.cycles.begin(), found.cycles.end(),
            [](const Cycle& a, const Cycle& b) {
              return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes
                                                  : a.nodes < b.nodes;
            });
  found.groups = CycleGroups(graph, reached).Of(found.cycles);
  return found;
}

}  // namespace pymemrun
