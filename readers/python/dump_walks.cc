#include "readers/python/dump_walks.h"

#include <algorithm>
#include <cstdint>

#include "readers/objects/graph/node_filter.h"
#include "readers/python/arguments.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

constexpr char kExcluding[] = "excluding";

py::object IterReached(const DumpedObject& self, const py::object& excluding) {
  py::list objects;
  for (const NodeId node : ReachedFrom(self, excluding)) {
    objects.append(self.Sibling(node));
  }
  return py::iter(objects);
}

uint64_t TotalSize(const DumpedObject& self, const py::object& excluding) {
  uint64_t bytes = 0;
  for (const NodeId node : ReachedFrom(self, excluding)) {
    bytes += self.graph().size_bytes(node);
  }
  return bytes;
}

py::list AllOf(const DumpedObject& self, const TextArgument& type,
               const py::object& excluding) {
  const ObjectGraph& graph = self.graph();
  std::vector<NodeId> found;
  for (const NodeId node : ReachedFrom(self, excluding)) {
    if (TypeMatches(graph, graph.type(node), type.text)) found.push_back(node);
  }
  std::stable_sort(found.begin(), found.end(), [&](NodeId a, NodeId b) {
    return self.analysis().retained(a) > self.analysis().retained(b);
  });
  py::list objects;
  for (const NodeId node : found) objects.append(self.Sibling(node));
  return objects;
}

}  // namespace

std::vector<NodeId> ReachedFrom(const DumpedObject& object,
                                const py::object& excluding) {
  const ObjectGraph& graph = object.graph();
  std::vector<bool> is_seen(graph.nodes());
  if (!excluding.is_none()) {
    for (const py::handle each : excluding) {
      const uint64_t address =
          py::isinstance<DumpedObject>(each)
              ? graph.address(each.cast<const DumpedObject&>().node())
              : static_cast<uint64_t>(WholeNumberOf(each));
      const NodeId node = graph.Find(address);
      if (node != kNoNode) is_seen[node] = true;
    }
  }
  std::vector<NodeId> reached;
  const auto reach = [&](NodeId node) {
    if (is_seen[node]) return;
    is_seen[node] = true;
    reached.push_back(node);
  };
  reach(object.node());
  for (size_t i = 0; i < reached.size(); ++i) {
    for (uint32_t e = graph.first_edge(reached[i]);
         e < graph.first_edge(reached[i] + 1); ++e) {
      const EdgeKind kind = graph.kind(e);
      if (kind != EDGE_TYPE && kind != EDGE_WEAK) reach(graph.target(e));
    }
  }
  return reached;
}

void DefineWalks(py::class_<DumpedObject>* object) {
  object->def("iter_recursive_refs", &IterReached,
              py::arg(kExcluding) = py::none(),
              "It and all objects that it refers to, directly or not, the "
              "nearest first. Without types, weak references and what only "
              "`excluding` leads to, which has addresses or objects.");
  object->def("compute_total_size", &TotalSize,
              py::arg(kExcluding) = py::none(),
              "The bytes of all that iter_recursive_refs() gives, also of what "
              "others refer to: `retained` is what would go with it.");
  object->def("all", &AllOf, py::arg("type"), py::arg(kExcluding) = py::none(),
              "Objects of a type among these, those that retain most first.");
}

}  // namespace pymemrun
