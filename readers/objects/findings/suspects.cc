#include "readers/objects/findings/suspects.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "readers/objects/findings/structure.h"

namespace pymemrun {
namespace {

// If an object's largest child retains less than this share of what the object
// retains, the bytes are spread over several children: they accumulate here.
constexpr double kDropShare = 0.8;

// Walks down the dominator tree through structure. What is below it, and large,
// is a suspect; what is small is grouped by type.
class SuspectSearch {
 public:
  SuspectSearch(ObjectAnalysis* analysis, double share)
      : analysis_(*analysis),
        graph_(analysis->graph()),
        children_(analysis->MakeChildren()),
        least_(static_cast<uint64_t>(
            share * static_cast<double>(analysis->reached_bytes()))) {
    least_ = std::max<uint64_t>(least_, 1);
  }

  std::vector<Suspect> Find() {
    is_structure_ = StructureNodes(graph_);
    std::vector<NodeId> left = {kRootNode};
    while (!left.empty()) {
      const NodeId node = left.back();
      left.pop_back();
      for (const NodeId child : children_.Of(node)) {
        if (is_structure_[child]) {
          left.push_back(child);
        } else if (Retained(child) >= least_) {
          FollowDown(child, &left);
        } else {
          AddToGroup(child);
        }
      }
    }
    AddGroups();
    std::sort(suspects_.begin(), suspects_.end(),
              [](const Suspect& a, const Suspect& b) {
                return a.retained_bytes != b.retained_bytes
                           ? a.retained_bytes > b.retained_bytes
                           : a.node < b.node;
              });
    return std::move(suspects_);
  }

 private:
  const std::string& TypeOf(NodeId node) const {
    return graph_.type_name(graph_.type(node));
  }

  NodeId LargestChild(NodeId node) {
    NodeId largest = kNoNode;
    for (const NodeId child : children_.Of(node)) {
      if (largest == kNoNode || Retained(child) > Retained(largest)) {
        largest = child;
      }
    }
    return largest;
  }

  // The type of items, as in a list, if several of one type retain much each.
  // Items have no names, and are not suspects themselves.
  std::optional<uint32_t> TypeOfItems(NodeId node) {
    constexpr size_t kLeastItems = 3;
    static const auto* const kOfItems = new absl::flat_hash_set<std::string>{
        "list", "tuple", "set", "frozenset", "collections.deque"};
    if (!kOfItems->contains(TypeOf(node))) return std::nullopt;
    std::map<uint32_t, size_t> counts;
    for (const NodeId child : children_.Of(node)) {
      if (Retained(child) < least_) continue;
      const uint32_t type = graph_.type(child);
      if (++counts[type] == kLeastItems) return type;
    }
    return std::nullopt;
  }

  // Descends to where the bytes are spread. If several children retain much,
  // they are suspects themselves, or their list is. If the path ends with
  // little, the bytes are spread along it: a linked list.
  void FollowDown(NodeId top, std::vector<NodeId>* left) {
    NodeId at = top;
    std::vector<NodeId> way;
    while (true) {
      way.push_back(at);
      const NodeId largest = LargestChild(at);
      if (largest == kNoNode ||
          static_cast<double>(Retained(largest)) <
              kDropShare * static_cast<double>(Retained(at))) {
        break;
      }
      at = largest;
    }
    // Even the end of the path retains little: a linked list, whose bytes are
    // along the path.
    if (Retained(at) < least_) return AddChain(std::move(way));
    const auto nested = NestedType(at);
    const auto items = nested.has_value() ? std::nullopt : TypeOfItems(at);
    const auto is_apart = [&](NodeId child) {
      return Retained(child) >= least_ && graph_.type(child) != items;
    };
    // What remains when the children with much memory are suspects themselves.
    uint64_t rest = Retained(at);
    for (const NodeId child : children_.Of(at)) {
      if (is_apart(child)) rest -= Retained(child);
    }
    // Nothing else below it has much, or everything is in parts that have.
    if (nested.has_value() && (rest < least_ || rest == Retained(at))) {
      return AddNested(way, *nested);
    }
    if (rest < least_) return left->push_back(at);
    Suspect suspect = {top, 1, Retained(top), at};
    DescribeBelow(&suspect);
    suspects_.push_back(suspect);
    for (const NodeId child : children_.Of(at)) {
      if (is_apart(child)) FollowDown(child, left);
    }
  }

  // The type that recurs below a node with much memory, as in a tree of nested
  // dictionaries. Two caches in one dictionary are not a tree. Neither are
  // containers between objects of another type.
  std::optional<uint32_t> NestedType(NodeId at) {
    constexpr size_t kAnyTypes = 4, kMostLevels = 8;
    constexpr uint64_t kMostBranches = 100;  // over two levels
    std::vector<uint32_t> types = {graph_.type(at)};
    std::vector<size_t> again;  // positions of its own type
    // Follows the largest child until the type has recurred twice.
    NodeId below = at;
    while (again.size() < 2 && types.size() <= kMostLevels) {
      below = LargestChild(below);
      if (below == kNoNode) return std::nullopt;
      if (graph_.type(below) == types[0]) again.push_back(types.size());
      types.push_back(graph_.type(below));
    }
    // The recurrence must still have a fair part of the bytes.
    if (again.size() < 2 || Retained(below) * kMostBranches < Retained(at)) {
      return std::nullopt;
    }
    // A long path must repeat the same types.
    const auto second = types.begin() + static_cast<ptrdiff_t>(again[0]);
    const bool is_same =
        again[1] == 2 * again[0] && std::equal(types.begin(), second, second);
    if (again[1] > kAnyTypes && !is_same) return std::nullopt;
    // Containers only connect objects: if another type recurs between them,
    // name this one.
    if (!IsContainer(types[0])) return types[0];
    for (auto type = types.begin(); type != second; ++type) {
      if (!IsContainer(*type) && std::count(type + 1, types.end(), *type) > 0) {
        return *type;
      }
    }
    return types[0];
  }
  bool IsContainer(uint32_t type) const {
    static const auto* const kContainers =
        new absl::flat_hash_set<std::string>{"list",
                                             "tuple",
                                             "set",
                                             "frozenset",
                                             "dict",
                                             "collections.deque",
                                             "collections.OrderedDict",
                                             "collections.defaultdict"};
    return kContainers->contains(graph_.type_name(type));
  }

  // All objects of the type below the end of the path share the bytes. The
  // first one may be directly above it.
  void AddNested(const std::vector<NodeId>& way, uint32_t type) {
    constexpr ptrdiff_t kMostAbove = 4;
    const auto first = std::find_if(
        way.rbegin(),
        way.rbegin() + std::min<ptrdiff_t>(kMostAbove, std::ssize(way)),
        [&](NodeId node) { return graph_.type(node) == type; });
    const bool is_above = first != way.rend() && graph_.type(*first) == type;
    const NodeId at = is_above ? *first : way.back();
    // All objects below, by a search with an explicit stack.
    std::vector<NodeId> alike, below = {at};
    while (!below.empty()) {
      const NodeId node = below.back();
      below.pop_back();
      if (graph_.type(node) == type) alike.push_back(node);
      for (const NodeId child : children_.Of(node)) below.push_back(child);
    }
    Suspect suspect = {way[0], 1, Retained(way[0]), at};
    Describe(
        alike, [](NodeId) { return 1; }, &suspect);
    suspect.most_bytes = Retained(at);
    suspects_.push_back(suspect);
  }

  // Objects by the number of their allocating line.
  struct LineCount {
    uint64_t objects = 0;
    NodeId first = kNoNode;
  };
  using LineCounts = absl::flat_hash_map<uint32_t, LineCount>;

  void CountLine(NodeId node, LineCounts* lines, Suspect* suspect) const {
    if (graph_.allocations() == nullptr) return;
    // Only a line that certainly made the object counts.
    const uint32_t line = graph_.allocations()->SureLineOf(node);
    if (line == 0) {
      suspect->reused_objects += graph_.allocations()->LineOf(node) != 0;
      return;
    }
    LineCount& count = (*lines)[line];
    ++count.objects;
    count.first = std::min(count.first, node);
  }
  static void TakeMostLine(const LineCounts& lines, Suspect* suspect) {
    for (const auto& [line, count] : lines) {
      // Ties go to the lower line number, so that results do not depend on
      // hashing.
      if (count.objects < suspect->most_line_objects ||
          (count.objects == suspect->most_line_objects &&
           line > suspect->most_line)) {
        continue;
      }
      suspect->most_line = line;
      suspect->most_line_objects = count.objects;
      suspect->most_line_node = count.first;
    }
  }

  // Finds what most bytes are in: `nodes`, with their bytes.
  template <typename Nodes, typename BytesOf>
  void Describe(const Nodes& nodes, BytesOf bytes_of, Suspect* suspect) {
    struct OfType {
      uint64_t objects = 0, bytes = 0;
    };
    std::map<uint32_t, OfType> types;
    for (const NodeId node : nodes) {
      OfType& of = types[graph_.type(node)];
      ++of.objects;
      of.bytes += bytes_of(node);
      if (of.bytes <= suspect->most_bytes) continue;
      suspect->most_type = graph_.type(node);
      suspect->most_bytes = of.bytes;
    }
    if (types.empty()) return;
    suspect->most_objects = types[suspect->most_type].objects;
    LineCounts lines;
    for (const NodeId node : nodes) {
      if (graph_.type(node) == suspect->most_type) {
        CountLine(node, &lines, suspect);
      }
    }
    TakeMostLine(lines, suspect);
  }
  void DescribeBelow(Suspect* suspect) {
    Describe(
        children_.Of(suspect->accumulation),
        [this](NodeId child) { return Retained(child); }, suspect);
  }

  // `way` is a path from an object to one that retains little. An object on it
  // has what it retains, minus what the next one retains.
  void AddChain(std::vector<NodeId> way) {
    // The path continues with objects of the same type that retain little: they
    // belong to the list, too.
    for (NodeId next = LargestChild(way.back());
         next != kNoNode && graph_.type(next) == graph_.type(way.back());
         next = LargestChild(way.back())) {
      way.push_back(next);
    }
    absl::flat_hash_map<NodeId, uint64_t> bytes;
    for (size_t i = 0; i < way.size(); ++i) {
      bytes[way[i]] =
          Retained(way[i]) - (i + 1 < way.size() ? Retained(way[i + 1]) : 0);
    }
    Suspect suspect = {way[0], 1, Retained(way[0]), way[0]};
    Describe(
        way, [&bytes](NodeId node) { return bytes[node]; }, &suspect);
    suspect.accumulation =
        *std::find_if(way.begin(), way.end(), [this, &suspect](NodeId node) {
          return graph_.type(node) == suspect.most_type;
        });
    // Only the last object has most of the bytes: describe what it holds.
    if (suspect.accumulation == way.back()) {
      suspect = {way[0], 1, Retained(way[0]), way.back()};
      DescribeBelow(&suspect);
    }
    suspects_.push_back(suspect);
  }

  // What modules have is grouped by type: no single object holds it.
  void AddToGroup(NodeId node) {
    static const auto* const kOfPrograms =
        new absl::flat_hash_set<std::string>{"type",
                                             "function",
                                             "code",
                                             "module",
                                             "frame",
                                             "builtin_function_or_method",
                                             "cell",
                                             "property",
                                             "getset_descriptor",
                                             "tuple",
                                             "wrapper_descriptor",
                                             "method_descriptor"};
    if (kOfPrograms->contains(TypeOf(node))) return;
    groups_[graph_.type(node)].push_back(node);
  }

  // The median by bytes: half of the bytes are in it and in smaller ones. So an
  // unusual member is not chosen.
  NodeId TypicalOf(std::vector<NodeId> nodes) const {
    std::sort(nodes.begin(), nodes.end(), [this](NodeId a, NodeId b) {
      return std::tuple(Retained(a), a) < std::tuple(Retained(b), b);
    });
    uint64_t all = 0, below = 0;
    for (const NodeId node : nodes) all += Retained(node);
    size_t at = 0;
    while (below + Retained(nodes[at]) < (all + 1) / 2) {
      below += Retained(nodes[at++]);
    }
    return nodes[at];
  }

  void AddGroup(const std::vector<NodeId>& members) {
    Suspect group = {members[0], members.size(), 0, members[0]};
    LineCounts lines;
    for (const NodeId node : members) {
      group.retained_bytes += Retained(node);
      CountLine(node, &lines, &group);
    }
    if (group.retained_bytes < least_) return;
    TakeMostLine(lines, &group);
    // The example is one that the most frequent line allocated.
    std::vector<NodeId> alike;
    for (const NodeId node : members) {
      if (group.most_line == 0 ||
          graph_.allocations()->SureLineOf(node) == group.most_line) {
        alike.push_back(node);
      }
    }
    group.node = group.accumulation = TypicalOf(std::move(alike));
    if (group.most_line != 0) group.most_line_node = group.node;
    suspects_.push_back(group);
  }
  void AddGroups() {
    for (const auto& [type, members] : groups_) AddGroup(members);
  }

  uint64_t Retained(NodeId node) const { return analysis_.retained(node); }

  ObjectAnalysis& analysis_;
  const ObjectGraph& graph_;
  // Not needed once chains are searched.
  const DominatorTree::Children children_;
  uint64_t least_;
  std::vector<bool> is_structure_;
  absl::flat_hash_map<uint32_t, std::vector<NodeId>> groups_;  // by type
  std::vector<Suspect> suspects_;
};

}  // namespace

std::vector<Suspect> FindSuspects(ObjectAnalysis* analysis, double share) {
  return SuspectSearch(analysis, share).Find();
}

}  // namespace pymemrun
