#include "readers/objects/findings/duplicates.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"

namespace pymemrun {
namespace {

// Objects are equal if their keys are. The text is the graph's.
using ContentKey = std::tuple<uint32_t, absl::string_view, uint64_t, uint64_t>;

struct Group {
  NodeId first;
  uint64_t count = 0, size_bytes = 0, largest_bytes = 0;
};

}  // namespace

// Texts are compared as far as the dump has them. A text that was cut has a
// hash of the whole.
std::vector<Duplicates> FindDuplicates(const ObjectGraph& graph,
                                       const NodeFilter& filter) {
  std::vector<bool> is_text;
  for (const ObjectTypeDef& type : graph.types()) {
    is_text.push_back(type.name() == "str" || type.name() == "bytes" ||
                      type.name() == "unicode");
  }
  absl::flat_hash_map<ContentKey, Group> groups;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (!is_text[graph.type(node)] || !filter.Matches(graph, node)) continue;
    const NodeDetails details = graph.details(node);
    if (!details.text.has_value()) continue;
    const uint64_t size = graph.size_bytes(node);
    Group& group = groups
                       .try_emplace({graph.type(node), *details.text,
                                     details.length.value_or(0), details.hash},
                                    Group{node})
                       .first->second;
    ++group.count;
    group.size_bytes += size;
    group.largest_bytes = std::max(group.largest_bytes, size);
  }
  std::vector<Duplicates> found;
  for (const auto& [key, group] : groups) {
    if (group.count < 2) continue;
    found.push_back({group.first, group.count, group.size_bytes,
                     group.size_bytes - group.largest_bytes});
  }
  std::sort(found.begin(), found.end(),
            [](const Duplicates& a, const Duplicates& b) {
              return a.saving_bytes != b.saving_bytes
                         ? a.saving_bytes > b.saving_bytes
                         : a.first < b.first;
            });
  return found;
}

}  // namespace pymemrun
