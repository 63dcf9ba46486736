#include "readers/objects_commands/neighbours.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/objects/object_text.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// Attributes and entries of the node alone, by their names.
void AddEntries(const ObjectGraph& graph, NodeId node,
                std::vector<Neighbour>* entries) {
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    const EdgeKind kind = graph.kind(e);
    if (kind == EDGE_VALUE || kind == EDGE_INDEX) {
      std::string text = EdgeText(graph, e);
      if (text.front() == '[') text = text.substr(1, text.size() - 2);
      entries->push_back({std::move(text), graph.target(e)});
    } else if (kind != EDGE_KEY && kind != EDGE_TYPE &&
               !graph.edge_name(e).empty()) {
      entries->push_back({std::string(graph.edge_name(e)), graph.target(e)});
    }
  }
}

using Add = absl::FunctionRef<bool(Neighbour)>;

std::string FindParents(NodeId node, ObjectAnalysis* analysis, Add add) {
  for (const uint32_t edge : analysis->parents().EdgesTo(node)) {
    const ObjectGraph& graph = analysis->graph();
    if (!add({EdgeText(graph, edge), graph.SourceOf(edge)})) break;
  }
  const uint64_t count = analysis->parents().count(node);
  return absl::StrCat(Counted(count, "reference"),
                      count == 1 ? " leads" : " lead", " to it.");
}

std::string FindChildren(NodeId node, const ObjectGraph& graph, Add add) {
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    if (!add({EdgeText(graph, e), graph.target(e)})) break;
  }
  return absl::StrCat("It has ", Counted(graph.degree(node), "reference"), ".");
}

// Those of the node, and of its __dict__.
std::string FindEntries(NodeId node, const ObjectGraph& graph, Add add) {
  std::vector<Neighbour> entries;
  AddEntries(graph, node, &entries);
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    if (graph.kind(e) == EDGE_DICT)
      AddEntries(graph, graph.target(e), &entries);
  }
  for (const Neighbour& entry : entries) {
    if (!add(entry)) break;
  }
  return absl::StrCat(
      "It has ", Counted(entries.size(), "named entry", "named entries"), ".");
}

}  // namespace

std::string FindNeighbours(NextTo what, NodeId node, ObjectAnalysis* analysis,
                           Add add) {
  switch (what) {
    case NextTo::kParents:
      return FindParents(node, analysis, add);
    case NextTo::kChildren:
      return FindChildren(node, analysis->graph(), add);
    case NextTo::kRefs:
      return FindEntries(node, analysis->graph(), add);
  }
  return "";
}

}  // namespace pymemrun
