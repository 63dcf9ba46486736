#include "readers/objects/findings/retained_tree.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace pymemrun {
namespace {

class TreeBuilder {
 public:
  TreeBuilder(ObjectAnalysis* analysis, const RetainedLimits& limits)
      : analysis_(*analysis), limits_(limits) {}

  // Opens the item that retains most first, until there are enough.
  std::vector<RetainedItem> Build(NodeId top) {
    const uint64_t all = analysis_.retained(top);
    least_ =
        static_cast<uint64_t>(static_cast<double>(all) * limits_.least_share);
    RetainedItem first;
    first.node = top;
    first.type = analysis_.graph().type(top);
    first.retained_bytes = all;
    items_.push_back(first);
    closed_.push({all, 0});
    while (!closed_.empty() && items_.size() < limits_.most_items) {
      const size_t at = closed_.top().second;
      closed_.pop();
      if (items_[at].level < limits_.most_levels) Open(at);
    }
    return std::move(items_);
  }

 private:
  // Adds an item's children: large ones first, then small ones joined. Only
  // large ones may be opened further.
  void Open(size_t at) {
    const NodeId node = items_[at].node;
    const size_t begin = items_.size();
    RetainedItem child;
    child.parent = static_cast<uint32_t>(at);
    child.level = items_[at].level + 1;
    absl::flat_hash_map<uint32_t, RetainedItem> small;  // by type
    for (const NodeId found : analysis_.children().Of(node)) {
      child.node = found;
      child.type = analysis_.graph().type(found);
      child.retained_bytes = analysis_.retained(found);
      if (IsSmall(child)) {
        Join(child,
             &small.try_emplace(child.type, NothingBelow(child)).first->second);
      } else {
        items_.push_back(child);
      }
    }
    Sort(begin);
    FindEdges(node, begin);
    for (size_t i = begin; i < items_.size(); ++i) {
      closed_.push({items_[i].retained_bytes, i});
    }
    AddSmall(small, NothingBelow(child));
  }

  bool IsSmall(const RetainedItem& item) const {
    return item.retained_bytes < least_ || item.retained_bytes == 0;
  }
  static RetainedItem NothingBelow(RetainedItem item) {
    item.node = kNoNode;
    item.retained_bytes = item.objects = 0;
    return item;
  }
  static void Join(const RetainedItem& item, RetainedItem* sum) {
    sum->retained_bytes += item.retained_bytes;
    sum->objects += item.objects;
  }
  // Largest first. Node and type make the order the same each time, as sums
  // come from a hash table.
  void Sort(size_t begin) {
    const auto key = [](const RetainedItem& item) {
      return std::tuple(~item.retained_bytes, item.node, item.type);
    };
    std::sort(items_.begin() + begin, items_.end(),
              [&key](const RetainedItem& a, const RetainedItem& b) {
                return key(a) < key(b);
              });
  }
  // Adds the small items of each type; `rest` takes those that are small even
  // together.
  void AddSmall(const absl::flat_hash_map<uint32_t, RetainedItem>& small,
                RetainedItem rest) {
    const size_t begin = items_.size();
    rest.type = kManyTypes;
    for (const auto& [type, sum] : small) {
      if (IsSmall(sum)) {
        Join(sum, &rest);
      } else {
        items_.push_back(sum);
      }
    }
    Sort(begin);
    if (rest.retained_bytes != 0) items_.push_back(rest);
  }

  // The first reference to each item from `begin` on.
  void FindEdges(NodeId parent, size_t begin) {
    absl::flat_hash_map<NodeId, size_t> wanted;
    for (size_t i = begin; i < items_.size(); ++i) wanted[items_[i].node] = i;
    const ObjectGraph& graph = analysis_.graph();
    for (uint32_t e = graph.first_edge(parent);
         e < graph.first_edge(parent + 1) && !wanted.empty(); ++e) {
      const auto found = wanted.find(graph.target(e));
      if (found == wanted.end() || graph.kind(e) == EDGE_WEAK) continue;
      items_[found->second].edge = e;
      wanted.erase(found);
    }
  }

  ObjectAnalysis& analysis_;
  const RetainedLimits limits_;
  uint64_t least_ = 0;
  std::vector<RetainedItem> items_;
  std::priority_queue<std::pair<uint64_t, size_t>> closed_;
};

}  // namespace

std::vector<RetainedItem> LargestRetained(ObjectAnalysis* analysis, NodeId top,
                                          const RetainedLimits& limits) {
  return TreeBuilder(analysis, limits).Build(top);
}

}  // namespace pymemrun
