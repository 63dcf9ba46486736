#include "readers/objects_findings/cycles.h"

#include <algorithm>
#include <utility>

#include "readers/objects/dump_loader.h"

namespace pymemrun {
namespace {

// What the root reaches without kNotReached.
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
      if (node == kRootNode && graph.edge_name(e) == kNotReached) continue;
      reached[graph.target(e)] = true;
      left.push_back(graph.target(e));
    }
  }
  return reached;
}

// Tarjan's strongly connected components, without recursion.
class CycleSearch {
 public:
  CycleSearch(const ObjectGraph& graph, const std::vector<bool>& left_out)
      : graph_(graph),
        left_out_(left_out),
        number_(graph.nodes()),
        low_(graph.nodes()),
        is_open_(graph.nodes()) {}

  std::vector<Cycle> Find() {
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
      if (step.next_edge < graph_.first_edge(node + 1)) {
        const uint32_t edge = step.next_edge++;
        const NodeId target = graph_.target(edge);
        if (left_out_[target] || graph_.kind(edge) == EDGE_WEAK) continue;
        if (number_[target] == 0) {
          Enter(target);
        } else if (is_open_[target]) {
          low_[node] = std::min(low_[node], number_[target]);
        }
        continue;
      }
      way_.pop_back();
      if (!way_.empty()) {
        NodeId above = way_.back().node;
        low_[above] = std::min(low_[above], low_[node]);
      }
      if (low_[node] == number_[node]) Close(node);
    }
  }

  // Takes the component off that ends with `first`.
  void Close(NodeId first) {
    Cycle cycle;
    NodeId node;
    do {
      node = open_.back();
      open_.pop_back();
      is_open_[node] = false;
      cycle.nodes.push_back(node);
    } while (node != first);
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
  return found;
}

}  // namespace pymemrun
