#include "readers/objects/graph/chains.h"

#include <algorithm>
#include <queue>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/objects/graph/object_text.h"

namespace pymemrun {
namespace {

// Whether a key can be written as an attribute.
bool IsIdentifier(absl::string_view text) {
  if (text.empty() || absl::ascii_isdigit(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// The attribute name for the value of an entry of a __dict__; empty: none.
std::string AttributeName(const ObjectGraph& graph, uint32_t edge) {
  const NodeId key = KeyOf(graph, edge);
  if (key == kNoNode) return "";
  const NodeDetails details = graph.details(key);
  if (!details.text.has_value() || !IsIdentifier(*details.text)) return "";
  return std::string(*details.text);
}

// A step of a chain as text; empty: the next step implies it. sys.modules is
// the interpreter's own dictionary, and a module's attributes are entries of
// its __dict__: both are written as Python code has them.
std::string StepText(const ObjectGraph& graph, const Chain& chain, size_t i) {
  const uint32_t edge = chain[i];
  const std::string text = EdgeText(graph, edge);
  const bool by_modules = i > 0 && graph.edge_name(chain[0]) == "modules";
  if (i == 0 && text == "modules") return "sys.modules";
  if (i == 1 && by_modules) return "";  // the dictionary itself
  const NodeId target = graph.target(edge);
  if (graph.is_synthetic(target) || KindText(graph, target) == "frame") {
    const std::string value = ValueText(graph, target);
    return value.empty() || value == text ? text
                                          : absl::StrCat(text, " ", value);
  }
  // Through an object's __dict__ a chain reads as an attribute: the step to the
  // dictionary is left out.
  const auto is_dict_of_object = [&](uint32_t of) {
    return graph.kind(of) == EDGE_DICT &&
           !graph.is_synthetic(graph.SourceOf(of));
  };
  if (i + 1 < chain.size() && is_dict_of_object(edge) &&
      !AttributeName(graph, chain[i + 1]).empty()) {
    return "";  // the next step names the attribute
  }
  if (i > 0 && is_dict_of_object(chain[i - 1])) {
    const std::string name = AttributeName(graph, edge);
    if (!name.empty()) return absl::StrCat(".", name);
  }
  return text;
}

// The most partial chains examined: a node may have millions of parents, and
// each of these, too.
constexpr size_t kMostSteps = size_t{1} << 22;
// The most steps of partial chains compared, to see whether a node repeats.
constexpr uint64_t kMostLooks = uint64_t{1} << 28;

constexpr uint32_t kNoChainEdge = RootChains::kNoChainEdge;

}  // namespace

// Breadth first from the root.
std::vector<uint32_t> Distances(const ObjectGraph& graph) {
  std::vector<uint32_t> distance(graph.nodes(), kNoNode);
  std::vector<NodeId> queue = {kRootNode};
  distance[kRootNode] = 0;
  for (size_t at = 0; at < queue.size(); ++at) {
    const NodeId node = queue[at];
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      const NodeId target = graph.target(e);
      if (graph.kind(e) == EDGE_WEAK || distance[target] != kNoNode) continue;
      distance[target] = distance[node] + 1;
      queue.push_back(target);
    }
  }
  return distance;
}

namespace {

// Builds chains from their end to the root. Each step points to the step after
// it, so chains share what they have in common.
class ChainSearch {
 public:
  ChainSearch(const ObjectGraph& graph, const Parents& parents,
              absl::Span<const uint32_t> distances)
      : graph_(graph), parents_(parents), distance_(distances) {
    if (!distances.empty()) return;
    own_distances_ = Distances(graph);
    distance_ = own_distances_;
  }

  // Best first search (A*): a partial chain is ordered by its length plus the
  // distance of its start from the root. That sum never overestimates, so the
  // first chain that reaches the root is the shortest, and the next ones follow
  // in order.
  std::vector<Chain> Find(NodeId node, size_t count) {
    std::vector<Chain> chains;
    const uint32_t distance = distance_[node];
    if (distance == kNoNode || node == kRootNode) return chains;
    steps_.push_back({node, kNoStep, 0, 0, distance});
    open_.push({distance, 0});
    while (!open_.empty() && chains.size() < count) {
      const uint32_t at = open_.top().step;
      open_.pop();
      if (steps_[at].node == kRootNode) {
        chains.push_back(ChainOf(at));
      } else {
        Extend(at);
      }
    }
    return chains;
  }

 private:
  static constexpr uint32_t kNoStep = ~uint32_t{0};
  struct Step {
    NodeId node;
    uint32_t behind;  // the step after this one
    uint32_t edge;    // leads to that step's node
    uint32_t length;
    uint32_t nearest;  // the least distance from here to the root
  };
  struct Open {
    uint32_t length;  // of the whole chain, at least
    uint32_t step;
    bool operator<(const Open& other) const {
      return length != other.length ? length > other.length : step > other.step;
    }
  };

  // Adds a partial chain for each reference to the chain's first node.
  void Extend(uint32_t at) {
    for (const uint32_t edge : parents_.EdgesTo(steps_[at].node)) {
      if (graph_.kind(edge) == EDGE_WEAK || steps_.size() >= kMostSteps) {
        continue;
      }
      const NodeId parent = graph_.SourceOf(edge);
      const uint32_t distance = distance_[parent];
      if (distance == kNoNode || IsIn(parent, distance, at)) continue;
      const uint32_t length = steps_[at].length + 1;
      open_.push({length + distance, static_cast<uint32_t>(steps_.size())});
      steps_.push_back(
          {parent, at, edge, length, std::min(distance, steps_[at].nearest)});
    }
  }
  // A node nearer to the root than every node of the chain is not in it, so the
  // chain need not be searched.
  bool IsIn(NodeId node, uint32_t distance, uint32_t step) {
    if (distance < steps_[step].nearest) return false;
    for (; step != kNoStep; step = steps_[step].behind) {
      // After too many comparisons every node counts as repeated: the chain
      // ends.
      if (steps_[step].node == node || ++looked_at_ > kMostLooks) return true;
    }
    return false;
  }
  Chain ChainOf(uint32_t step) const {
    Chain chain;
    for (; steps_[step].behind != kNoStep; step = steps_[step].behind) {
      chain.push_back(steps_[step].edge);
    }
    return chain;
  }

  const ObjectGraph& graph_;
  const Parents& parents_;
  std::vector<uint32_t> own_distances_;
  absl::Span<const uint32_t> distance_;
  uint64_t looked_at_ = 0;
  std::vector<Step> steps_;
  std::priority_queue<Open> open_;
};

}  // namespace

std::vector<Chain> ShortestChains(const ObjectGraph& graph,
                                  const Parents& parents, NodeId node,
                                  size_t count,
                                  absl::Span<const uint32_t> distances) {
  return ChainSearch(graph, parents, distances).Find(node, count);
}

RootChains::RootChains(const ObjectGraph& graph,
                       absl::Span<const uint32_t> last_edges)
    : graph_(graph) {
  if (!last_edges.empty()) {
    edge_to_.Borrow(last_edges);  // no level needs searching
    return;
  }
  level_ = {kRootNode};
  edge_to_.resize(graph.nodes());
  std::fill(edge_to_.begin(), edge_to_.end(), kNoChainEdge);
}

// Visits each level in the order of nodes, so that among chains of equal length
// the first edge wins. Each node gets its last edge once, so all levels
// together take linear time.
void RootChains::FindNextLevel() {
  std::vector<NodeId> next;
  for (const NodeId node : level_) {
    for (uint32_t e = graph_.first_edge(node); e < graph_.first_edge(node + 1);
         ++e) {
      if (graph_.kind(e) == EDGE_GLOBALS) {
        globals_.push_back(e);
      } else {
        Follow(e, &next);
      }
    }
  }
  // Only when no other edge leads on, globals are followed: a module is a
  // better explanation than a function that uses it.
  if (next.empty()) {
    for (const uint32_t edge : globals_) Follow(edge, &next);
    globals_.clear();
  }
  std::sort(next.begin(), next.end());
  level_.swap(next);
}

void RootChains::Follow(uint32_t edge, std::vector<NodeId>* next) {
  const NodeId target = graph_.target(edge);
  if (graph_.kind(edge) == EDGE_WEAK || target == kRootNode ||
      edge_to_[target] != kNoChainEdge) {
    return;
  }
  edge_to_[target] = edge;
  next->push_back(target);
}

uint32_t RootChains::LastEdgeTo(NodeId node) {
  if (node == kRootNode) return kNoChainEdge;
  while (edge_to_[node] == kNoChainEdge && !level_.empty()) FindNextLevel();
  return edge_to_[node];
}

// Follows the last edges from the node back to the root.
Chain RootChains::To(NodeId node) {
  Chain chain;
  // The edges of an untrusted index may form a cycle.
  for (uint32_t edge = LastEdgeTo(node);
       edge != kNoChainEdge && chain.size() < graph_.nodes();
       edge = LastEdgeTo(node)) {
    chain.push_back(edge);
    node = graph_.SourceOf(edge);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

// Depth first, with an explicit stack: a linked list may be as long as the
// graph.
std::vector<bool> ReachedNodes(const ObjectGraph& graph,
                               const std::vector<bool>& without) {
  std::vector<bool> reached(graph.nodes());
  std::vector<NodeId> left;
  const auto enter = [&](NodeId node) {
    if (reached[node] || (!without.empty() && without[node])) return;
    reached[node] = true;
    left.push_back(node);
  };
  enter(kRootNode);
  while (!left.empty()) {
    const NodeId node = left.back();
    left.pop_back();
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      if (graph.kind(e) != EDGE_WEAK) enter(graph.target(e));
    }
  }
  return reached;
}

std::string ChainText(const ObjectGraph& graph, const Chain& chain) {
  // A long chain, as through a linked list, is cut to its start and end.
  constexpr size_t kFirst = 12, kLast = 8;
  std::string text;
  for (size_t i = 0; i < chain.size(); ++i) {
    // Cut only if that saves more than one step.
    if (i == kFirst && chain.size() > kFirst + kLast + 1) {
      i = chain.size() - kLast;
      absl::StrAppend(&text, " > (", i - kFirst, " more) > ");
      absl::StrAppend(&text, StepText(graph, chain, i));
      continue;
    }
    const std::string step = StepText(graph, chain, i);
    const bool goes_on =
        absl::StartsWith(step, ".") || absl::StartsWith(step, "[");
    if (!text.empty() && !step.empty() && !goes_on) text += " > ";
    text += step;
  }
  return text;
}

}  // namespace pymemrun
