#include "readers/objects/parents.h"

namespace pymemrun {

Parents::Parents(const ObjectGraph& graph)
    : first_(graph.nodes() + size_t{1}), edges_(graph.references()) {
  for (const NodeId target : graph.targets()) ++first_[target];
  uint32_t sum = 0;
  for (uint32_t& first : first_) first = sum += first;
  for (auto edge = static_cast<uint32_t>(edges_.size()); edge-- > 0;) {
    edges_[--first_[graph.target(edge)]] = edge;
  }
}

}  // namespace pymemrun
