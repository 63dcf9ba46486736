#include "readers/objects_findings/graph_diff.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace pymemrun {
namespace {

class Differ {
 public:
  Differ(const ObjectGraph& older, const ObjectGraph& newer,
         const NodeFilter& filter, bool by_address, ObjectsDiffBy by)
      : older_(older),
        newer_(newer),
        filter_(filter),
        by_address_(by_address),
        by_(by) {}

  std::vector<ObjectsDiffRow> Diff() {
    for (NodeId node = 0; node < older_.nodes(); ++node) {
      if (filter_.Matches(older_, node)) AddOld(node);
    }
    for (NodeId node = 0; node < newer_.nodes(); ++node) {
      if (filter_.Matches(newer_, node)) AddNew(node);
    }
    std::vector<ObjectsDiffRow> rows;
    for (auto& [name, row] : rows_) {
      if (row.net_bytes() == 0 && row.new_objects == row.old_objects &&
          row.came == 0 && row.grown_bytes == 0) {
        continue;
      }
      rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(),
              [](const ObjectsDiffRow& a, const ObjectsDiffRow& b) {
                const int64_t a_change = std::abs(a.net_bytes());
                const int64_t b_change = std::abs(b.net_bytes());
                return std::tie(b_change, a.name) < std::tie(a_change, b.name);
              });
    return rows;
  }

 private:
  const std::string& NameOf(const ObjectGraph& graph, NodeId node) const {
    static const std::string* const kNotKnown = new std::string;
    if (by_ == ObjectsDiffBy::kType) return graph.type_name(graph.type(node));
    const NodeAllocations* const known = graph.allocations();
    return known == nullptr ? *kNotKnown
                            : known->LineText(known->SureLineOf(node));
  }
  ObjectsDiffRow& RowOf(const ObjectGraph& graph, NodeId node) {
    const std::string& name = NameOf(graph, node);
    ObjectsDiffRow& row = rows_[name];
    if (row.name.empty()) row.name = name;
    return row;
  }
  void AddOld(NodeId node) {
    ObjectsDiffRow& row = RowOf(older_, node);
    const uint64_t size = older_.size_bytes(node);
    ++row.old_objects;
    row.old_bytes += size;
    if (!by_address_ || SameObject(newer_, older_, node) != kNoNode) return;
    ++row.gone;
    row.gone_bytes += size;
  }
  void AddNew(NodeId node) {
    ObjectsDiffRow& row = RowOf(newer_, node);
    const uint64_t size = newer_.size_bytes(node);
    ++row.new_objects;
    row.new_bytes += size;
    if (!by_address_) return;
    const NodeId same = SameObject(older_, newer_, node);
    if (same == kNoNode) {
      ++row.came;
      row.came_bytes += size;
    } else {
      row.grown_bytes += static_cast<int64_t>(size) -
                         static_cast<int64_t>(older_.size_bytes(same));
    }
  }

  const ObjectGraph& older_;
  const ObjectGraph& newer_;
  const NodeFilter& filter_;
  const bool by_address_;
  const ObjectsDiffBy by_;
  absl::flat_hash_map<std::string, ObjectsDiffRow> rows_;
};

}  // namespace

bool IsOneProcess(const ObjectGraph& older, const ObjectGraph& newer) {
  const Header& a = older.facts().header;
  const Header& b = newer.facts().header;
  return a.pid() == b.pid() &&
         a.process_start_ticks() == b.process_start_ticks() &&
         a.start_realtime_ns() == b.start_realtime_ns();
}

NodeId SameObject(const ObjectGraph& other, const ObjectGraph& graph,
                  NodeId node) {
  const NodeId same = other.Find(graph.address(node));
  if (same == kNoNode ||
      other.type_name(other.type(same)) != graph.type_name(graph.type(node))) {
    return kNoNode;
  }
  return other.details(same).text == graph.details(node).text ? same : kNoNode;
}

std::vector<ObjectsDiffRow> DiffGraphs(const ObjectGraph& older,
                                       const ObjectGraph& newer,
                                       const NodeFilter& filter,
                                       bool by_address, ObjectsDiffBy by) {
  return Differ(older, newer, filter, by_address, by).Diff();
}

}  // namespace pymemrun
