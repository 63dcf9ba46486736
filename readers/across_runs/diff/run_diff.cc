#include "readers/across_runs/diff/run_diff.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pymemrun {
namespace {

void AddTo(const Change& change, Change* sum) {
  sum->before += change.before;
  sum->after += change.after;
  sum->variance += change.variance;
}

bool IsLarger(const Change& a, const Change& b) {
  return std::fabs(a.bytes()) > std::fabs(b.bytes());
}

// The call trees of both runs as one. Node 0 is the root, above the outermost
// frames.
class MergedTree {
 public:
  explicit MergedTree(PlaceMatch* match) : match_(*match) {}

  // Callers precede what they call, so `ids` already has each node's parent.
  void Add(const std::vector<HeldNode>& nodes, bool is_before) {
    std::vector<uint32_t> ids = {0};
    for (size_t i = 1; i < nodes.size(); ++i) {
      const HeldNode& node = nodes[i];
      const uint32_t place =
          is_before ? match_.OfBefore(node.place) : match_.OfAfter(node.place);
      const uint32_t id = Child(ids[node.parent], place);
      ids.push_back(id);
      Change& self = nodes_[id].self;
      (is_before ? self.before : self.after) += node.self_bytes;
      self.variance += node.self_variance;
    }
  }
  std::vector<DiffRow> Take(uint64_t limit) {
    // A caller in the second tree may be numbered after its callees, so nodes
    // are taken by depth.
    std::vector<uint32_t> order;
    for (uint32_t i = 1; i < nodes_.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [this](uint32_t a, uint32_t b) {
                       return nodes_[a].depth < nodes_[b].depth;
                     });
    // Deepest first: each node's sum is complete before it is added to its
    // caller.
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      Node& node = nodes_[*at];
      AddTo(node.self, &node.sum);
      AddTo(node.sum, &nodes_[node.parent].sum);
    }
    // Only sampled figures are subject to chance.
    const double errors = ErrorsBeyondChance(std::count_if(
        order.begin(), order.end(),
        [this](uint32_t i) { return nodes_[i].sum.variance > 0; }));
    order.erase(std::remove_if(order.begin(), order.end(),
                               [this, errors](uint32_t i) {
                                 return !nodes_[i].sum.IsBeyond(errors);
                               }),
                order.end());
    std::stable_sort(order.begin(), order.end(),
                     [this](uint32_t a, uint32_t b) {
                       return IsLarger(nodes_[a].sum, nodes_[b].sum);
                     });
    if (limit != 0 && limit < order.size()) order.resize(limit);
    return Walk(order);
  }

 private:
  struct Node {
    uint32_t parent, place, depth;
    Change self, sum;
    bool is_kept = false;
  };
  // The node of this place below `parent`, added if it is new. So frames that
  // match become one node, even if their lines have moved.
  uint32_t Child(uint32_t parent, uint32_t place) {
    const auto [found, is_new] = children_.try_emplace(
        {parent, place}, static_cast<uint32_t>(nodes_.size()));
    if (is_new) {
      const uint32_t depth = parent == 0 ? 0 : nodes_[parent].depth + 1;
      nodes_.push_back({parent, place, depth, {}, {}});
    }
    return found->second;
  }
  // The chosen nodes and their callers.
  // Callers are kept even if they did not change, so that each row is below its
  // caller.
  std::vector<DiffRow> Walk(const std::vector<uint32_t>& chosen) {
    std::vector<uint32_t> kept;
    for (const uint32_t i : chosen) {
      for (uint32_t at = i; at != 0 && !nodes_[at].is_kept;
           at = nodes_[at].parent) {
        nodes_[at].is_kept = true;
        kept.push_back(at);
      }
    }
    // Smallest first, as they are pushed onto a stack.
    std::stable_sort(kept.begin(), kept.end(), [this](uint32_t a, uint32_t b) {
      return IsLarger(nodes_[b].sum, nodes_[a].sum);
    });
    std::vector<std::vector<uint32_t>> below(nodes_.size());
    for (const uint32_t i : kept) below[nodes_[i].parent].push_back(i);
    std::vector<DiffRow> walk;
    std::vector<uint32_t> open = below[0];
    while (!open.empty()) {
      const uint32_t i = open.back();
      open.pop_back();
      const Node& node = nodes_[i];
      walk.push_back({match_.places()[node.place], node.sum, node.depth});
      open.insert(open.end(), below[i].begin(), below[i].end());
    }
    return walk;
  }

  PlaceMatch& match_;
  std::vector<Node> nodes_ = {{0, 0, 0, {}, {}}};
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> children_;
};

HeapRows RowsOf(GroupBy by, const HeapMoments& replay) {
  HeapRowsMaker maker(by);
  maker.Add(replay, replay.SumsAt(0));
  return maker.Take();
}

}  // namespace

double Change::Error() const { return std::sqrt(std::fmax(variance, 0)); }

// Half a byte: exact figures that are equal must not differ by rounding.
bool Change::IsBeyond(double errors) const {
  return std::fabs(bytes()) >= std::fmax(errors * Error(), 0.5);
}

// Bonferroni: the chance at one place, times the number of places. erfc(x /
// sqrt(2)) is the chance to exceed x standard errors in either direction.
double ErrorsBeyondChance(size_t places) {
  constexpr double kChance = 0.0005, kStep = 0.1;
  // Some 50 steps at most: erfc() falls faster than any number of places grows.
  double errors = Change::kErrors;
  while (static_cast<double>(places) * std::erfc(errors / std::sqrt(2)) >
         kChance) {
    errors += kStep;
  }
  return errors;
}

Change ChangeOf(const Figure& before, const Figure& after) {
  // The runs are independent, so variances add up.
  return {before.value, after.value, before.variance + after.variance};
}

// The threshold grows with the number of places that are subject to chance, so
// it is known only after all were joined. Equal changes are sorted by place.
std::vector<DiffRow> DiffPlaces(const std::vector<HeldBytes>& before,
                                const std::vector<HeldBytes>& after,
                                double least_bytes, PlaceMatch* match) {
  const std::vector<Change> changes = JoinByPlace<Change>(
      before, after, match,
      [](const HeldBytes& held, bool is_before, Change* change) {
        (is_before ? change->before : change->after) += held.bytes;
        change->variance += held.variance;
      });
  const double errors = ErrorsBeyondChance(
      std::count_if(changes.begin(), changes.end(),
                    [](const Change& change) { return change.variance > 0; }));
  std::vector<DiffRow> rows;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!changes[i].IsBeyond(errors) ||
        std::fabs(changes[i].bytes()) < least_bytes) {
      continue;
    }
    rows.push_back({match->places()[i], changes[i], 0});
  }
  std::sort(rows.begin(), rows.end(), [](const DiffRow& a, const DiffRow& b) {
    if (IsLarger(a.change, b.change) || IsLarger(b.change, a.change)) {
      return IsLarger(a.change, b.change);
    }
    return a.place.place < b.place.place;
  });
  return rows;
}

std::vector<DiffRow> DiffStacks(const std::vector<HeldNode>& before,
                                const std::vector<HeldNode>& after,
                                uint64_t limit, PlaceMatch* match) {
  MergedTree tree(match);
  tree.Add(before, /*is_before=*/true);
  tree.Add(after, /*is_before=*/false);
  return tree.Take(limit);
}

HeapRows DiffHeapRows(GroupBy by, const HeapMoments& first,
                      const HeapMoments& second) {
  PlaceMatch match(by, &first.index(), &second.index());
  const HeapRows before = RowsOf(by, first), after = RowsOf(by, second);
  HeapRows rows;
  rows.places = JoinByPlace<HeapRows::Row>(
      before.places, after.places, &match,
      [](const HeapRows::Row& held, bool is_before, HeapRows::Row* row) {
        const bool is_first = row->sums.recorded + row->before.recorded == 0;
        // JoinByPlace() visits the run after first, so its names are used.
        if (is_first) row->place = held.place;
        (is_before ? row->before : row->sums).Add(held.sums);
      });
  rows.tracing.before = before.tracing.sums;
  rows.tracing.sums = after.tracing.sums;
  rows.reserved.before = before.reserved.sums;
  rows.reserved.sums = after.reserved.sums;
  return rows;
}

}  // namespace pymemrun
