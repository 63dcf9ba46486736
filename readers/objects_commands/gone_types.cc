#include "readers/objects_commands/gone_types.h"

#include <algorithm>

namespace pymemrun {

Table TypesOf(const ObjectGraph& graph, const std::vector<NodeId>& nodes,
              uint64_t limit) {
  struct OfType {
    uint64_t bytes = 0, objects = 0;
    uint32_t type = 0;
  };
  std::vector<OfType> types(graph.types().size());
  for (const NodeId node : nodes) {
    if (graph.is_synthetic(node)) continue;
    OfType& of = types[graph.type(node)];
    of.type = graph.type(node);
    of.bytes += graph.size_bytes(node);
    ++of.objects;
  }
  std::stable_sort(
      types.begin(), types.end(),
      [](const OfType& a, const OfType& b) { return a.bytes > b.bytes; });
  Table table;
  table.headings = {{"objects", "objects"},
                    {"bytes", "size", CellLook::kBytes},
                    {"type", "type", CellLook::kName}};
  for (const OfType& of : types) {
    if (of.objects == 0 || (limit != 0 && table.rows.size() == limit)) continue;
    table.rows.push_back({of.objects, of.bytes, graph.type_name(of.type)});
  }
  table.places = table.rows.size();
  return table;
}

}  // namespace pymemrun
