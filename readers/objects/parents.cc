#include "readers/objects/parents.h"

#include <algorithm>

namespace pymemrun {

Parents::Parents(const ObjectGraph& graph) {
  GrownArray<uint32_t>& first = first_.own();
  GrownArray<uint32_t>& edges = edges_.own();
  first.resize(graph.nodes() + size_t{1});
  edges.resize(graph.references());
  std::fill(first.begin(), first.end(), 0);
  const auto count = static_cast<uint32_t>(edges.size());
  for (uint32_t edge = 0; edge < count; ++edge) ++first[graph.target(edge)];
  uint32_t sum = 0;
  for (uint32_t& each : first) each = sum += each;
  for (uint32_t edge = count; edge-- > 0;) {
    edges[--first[graph.target(edge)]] = edge;
  }
}

Parents::Parents(const MappedColumn* first, const MappedColumn* edges) {
  first_.Use(first);
  edges_.Use(edges);
}

}  // namespace pymemrun
