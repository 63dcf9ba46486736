#include "readers/objects/graph/parents.h"

#include <algorithm>

namespace pymemrun {

// Counting sort by target. Filling backwards keeps edges to one node in their
// order, and leaves first_ at the starts.
Parents::Parents(const ObjectGraph& graph) {
  first_.resize(graph.nodes() + size_t{1});
  edges_.resize(graph.references());
  std::fill(first_.begin(), first_.end(), 0);
  const auto count = static_cast<uint32_t>(edges_.size());
  for (uint32_t edge = 0; edge < count; ++edge) ++first_[graph.target(edge)];
  uint32_t sum = 0;
  for (uint32_t& each : first_) each = sum += each;
  for (uint32_t edge = count; edge-- > 0;) {
    edges_[--first_[graph.target(edge)]] = edge;
  }
}

Parents::Parents(absl::Span<const uint32_t> first,
                 absl::Span<const uint32_t> edges) {
  first_.Borrow(first);
  edges_.Borrow(edges);
}

}  // namespace pymemrun
