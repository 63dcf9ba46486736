#include "readers/objects/findings/graph_diff.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/objects/graph/object_text.h"

namespace pymemrun {
namespace {

// The amount of a change. Works for the least int64_t, too.
uint64_t Amount(int64_t change) {
  return change < 0 ? uint64_t{0} - static_cast<uint64_t>(change)
                    : static_cast<uint64_t>(change);
}

// Walks down both dominator trees at once, by objects that are in both. open_
// has the rows whose children are not looked at yet.
class RetainedDiffer {
 public:
  RetainedDiffer(ObjectAnalysis* older, ObjectAnalysis* newer,
                 uint64_t least_bytes)
      : older_(*older),
        newer_(*newer),
        least_(std::max<uint64_t>(least_bytes, 1)),
        old_groups_(GroupsOf(older->graph())),
        new_groups_(GroupsOf(newer->graph())) {}

  std::vector<RetainedDiff> Diff() {
    open_.push_back(RowOf(kRootNode));
    while (!open_.empty()) {
      RetainedDiff row = open_.back();
      open_.pop_back();
      OpenChildren(&row);
      if (Amount(row.grown_bytes) >= least_) rows_.push_back(row);
    }
    // Rows in a fixed order, also for equal amounts.
    std::sort(rows_.begin(), rows_.end(),
              [](const RetainedDiff& a, const RetainedDiff& b) {
                return Key(a) < Key(b);
              });
    return std::move(rows_);
  }

 private:
  static std::tuple<uint64_t, NodeId, NodeId> Key(const RetainedDiff& row) {
    return {~Amount(row.grown_bytes), row.node, row.old_node};
  }
  // Groups of roots by type and name, as they have no address.
  using Groups = absl::flat_hash_map<std::string, NodeId>;
  static std::string NameOf(const ObjectGraph& graph, NodeId node) {
    return absl::StrCat(KindText(graph, node), " ", ValueText(graph, node));
  }
  static Groups GroupsOf(const ObjectGraph& graph) {
    Groups groups;
    for (NodeId node = 0; node < graph.nodes(); ++node) {
      if (graph.is_synthetic(node)) groups.emplace(NameOf(graph, node), node);
    }
    return groups;
  }
  static NodeId SameNode(const ObjectGraph& other, const Groups& groups,
                         const ObjectGraph& graph, NodeId node) {
    if (!graph.is_synthetic(node)) return SameObject(other, graph, node);
    const auto found = groups.find(NameOf(graph, node));
    return found == groups.end() ? kNoNode : found->second;
  }
  RetainedDiff RowOf(NodeId node) {
    RetainedDiff row;
    row.node = node;
    row.old_node = SameNode(older_.graph(), old_groups_, newer_.graph(), node);
    row.bytes = newer_.retained(node);
    if (row.old_node != kNoNode) row.old_bytes = older_.retained(row.old_node);
    row.grown_bytes =
        static_cast<int64_t>(row.bytes) - static_cast<int64_t>(row.old_bytes);
    return row;
  }

  // Children that are or were large get rows of their own, which are subtracted
  // from this row. An object that came or went is one row, including everything
  // that came or went with it. If many did, their holder grew or shrank.
  void OpenChildren(RetainedDiff* row) {
    if (row->node == kNoNode || row->old_node == kNoNode) return;
    // A tenth of the change: smaller objects that came are many, and make no
    // rows.
    const uint64_t part = Amount(row->grown_bytes) / 10;
    for (const NodeId child : newer_.children().Of(row->node)) {
      const RetainedDiff found = RowOf(child);
      if (std::max(found.bytes, found.old_bytes) < least_) continue;
      // The object is new, but small: its bytes stay with the row.
      if (found.old_node == kNoNode && found.bytes < part) continue;
      row->grown_bytes -= found.grown_bytes;
      open_.push_back(found);
    }
    // Objects that went are only in the old tree.
    for (const NodeId child : older_.children().Of(row->old_node)) {
      if (older_.retained(child) < std::max(least_, part) ||
          SameNode(newer_.graph(), new_groups_, older_.graph(), child) !=
              kNoNode) {
        continue;
      }
      RetainedDiff gone;
      gone.old_node = child;
      gone.old_bytes = older_.retained(child);
      gone.grown_bytes = -static_cast<int64_t>(gone.old_bytes);
      row->grown_bytes -= gone.grown_bytes;
      rows_.push_back(gone);
    }
  }

  ObjectAnalysis& older_;
  ObjectAnalysis& newer_;
  const uint64_t least_;
  const Groups old_groups_, new_groups_;
  std::vector<RetainedDiff> open_, rows_;
};

// Passes over each dump once, and looks each object up in the other one by its
// address.
class Differ {
 public:
  Differ(const ObjectGraph& older, const ObjectGraph& newer,
         const NodeFilter& filter, bool by_address, ObjectsDiffBy by)
      : older_(older),
        newer_(newer),
        filter_(filter),
        by_address_(by_address),
        by_(by) {}

  // Rows that did not change are left out.
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

// A pid alone may be used again. The start time in clock ticks is that of
// /proc/PID/stat.
bool IsOneProcess(const ObjectGraph& older, const ObjectGraph& newer) {
  const Header& a = older.facts().header;
  const Header& b = newer.facts().header;
  return a.pid() == b.pid() &&
         a.process_start_ticks() == b.process_start_ticks() &&
         a.start_realtime_ns() == b.start_realtime_ns();
}

// An address may be used again for another object. Type and value catch most of
// these cases.
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

std::vector<RetainedDiff> DiffRetained(ObjectAnalysis* older,
                                       ObjectAnalysis* newer,
                                       uint64_t least_bytes) {
  return RetainedDiffer(older, newer, least_bytes).Diff();
}

}  // namespace pymemrun
