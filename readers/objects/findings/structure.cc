#include "readers/objects/findings/structure.h"

#include <string>

#include "absl/strings/match.h"
#include "readers/objects/graph/dump_loader.h"

namespace pymemrun {
namespace {

const std::string& TypeOf(const ObjectGraph& graph, NodeId node) {
  return graph.type_name(graph.type(node));
}

// Whether it refers to dictionaries of the interpreter. Those of threads have
// the values of thread-locals.
bool HoldsInterpreter(const ObjectGraph& graph, NodeId node) {
  if (!graph.is_synthetic(node)) return false;
  const absl::string_view text = graph.details(node).text.value_or("");
  return absl::StartsWith(text, "modules") ||
         absl::StartsWith(text, "interpreter");
}

bool IsNotReached(const ObjectGraph& graph, NodeId node) {
  return graph.is_synthetic(node) &&
         graph.details(node).text.value_or("") == kNotReached;
}

}  // namespace

std::vector<bool> StructureNodes(const ObjectGraph& graph) {
  std::vector<bool> is_structure(graph.nodes());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (!graph.is_synthetic(node) && TypeOf(graph, node) != "module" &&
        TypeOf(graph, node) != "frame") {
      continue;
    }
    is_structure[node] = true;
    const bool has_roots = HoldsInterpreter(graph, node);
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      const EdgeKind kind = graph.kind(e);
      const bool is_own = kind == EDGE_DICT || kind == EDGE_GLOBALS ||
                          (kind == EDGE_ROOT && has_roots);
      if (is_own && TypeOf(graph, graph.target(e)) == "dict") {
        is_structure[graph.target(e)] = true;
      }
    }
  }
  return is_structure;
}

// From the root down the dominator tree: the first node that is not structure
// passes itself on to all nodes below.
std::vector<NodeId> HoldersOf(ObjectAnalysis* analysis) {
  const std::vector<bool> is_structure = StructureNodes(analysis->graph());
  std::vector<NodeId> holders(analysis->graph().nodes(), kNoNode);
  std::vector<NodeId> left = {kRootNode};
  while (!left.empty()) {
    const NodeId node = left.back();
    left.pop_back();
    for (const NodeId child : analysis->children().Of(node)) {
      if (holders[node] != kNoNode) {
        holders[child] = holders[node];
      } else if (IsNotReached(analysis->graph(), node)) {
        holders[child] = node;
      } else if (!is_structure[child]) {
        holders[child] = child;
      }
      left.push_back(child);
    }
  }
  return holders;
}

}  // namespace pymemrun
