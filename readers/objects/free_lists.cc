#include "readers/objects/free_lists.h"

#include <string>

#include "absl/container/flat_hash_set.h"

namespace pymemrun {

bool MayBeReused(const ObjectGraph& graph, NodeId node) {
  // Longer tuples have no list.
  constexpr uint64_t kMostItems = 20;
  static const auto* const kTypes =
      new absl::flat_hash_set<std::string>{"builtin_function_or_method",
                                           "complex",
                                           "dict",
                                           "float",
                                           "frame",
                                           "int",
                                           "list",
                                           "list_iterator",
                                           "method",
                                           "range",
                                           "range_iterator",
                                           "slice",
                                           "tuple",
                                           "tuple_iterator"};
  const std::string& type = graph.type_name(graph.type(node));
  if (!kTypes->contains(type)) return false;
  return type != "tuple" ||
         graph.details(node).length.value_or(0) <= kMostItems;
}

}  // namespace pymemrun
