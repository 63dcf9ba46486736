#include "readers/objects/findings/analysis.h"

namespace pymemrun {

// An index has the arrays of a result; otherwise it is computed once.
const Parents& ObjectAnalysis::parents() {
  if (parents_ == nullptr) {
    parents_ = stored_.first_parents.size() == 0
                   ? std::make_unique<Parents>(*graph_)
                   : std::make_unique<Parents>(stored_.first_parents,
                                               stored_.parent_edges);
  }
  return *parents_;
}

RootChains& ObjectAnalysis::chains() {
  if (chains_ == nullptr) {
    chains_ = std::make_unique<RootChains>(*graph_, stored_.last_edges);
  }
  return *chains_;
}

std::vector<Chain> ObjectAnalysis::ShortestChainsTo(NodeId node, size_t count) {
  return ShortestChains(*graph_, parents(), node, count, stored_.distances);
}

const DominatorTree& ObjectAnalysis::tree() {
  if (tree_ == nullptr) {
    const GraphArrays& arrays = graph_->arrays();
    tree_ = std::make_unique<DominatorTree>(DominatorTree::Of(
        {arrays.first_edges, arrays.targets, arrays.kinds, EDGE_WEAK}));
  }
  return *tree_;
}

const DominatorTree::Children& ObjectAnalysis::children() {
  if (!children_.has_value()) children_ = MakeChildren();
  return *children_;
}

DominatorTree::Children ObjectAnalysis::MakeChildren() {
  return DominatorTree::ChildrenOf(all_dominators());
}

absl::Span<const uint64_t> ObjectAnalysis::all_retained() {
  if (retained_.empty()) {
    // Computing the tree takes the most memory.
    const DominatorTree& tree = this->tree();
    own_retained_.resize(graph_->nodes());
    for (NodeId each = 0; each < graph_->nodes(); ++each) {
      own_retained_[each] = graph_->size_bytes(each);
    }
    tree.Retain(&own_retained_);
    retained_ = own_retained_;
  }
  return retained_;
}

// Views of what is freed become empty, so that the next question computes it
// anew.
void ObjectAnalysis::Forget() {
  parents_.reset();
  chains_.reset();
  tree_.reset();
  children_.reset();
  own_retained_ = {};
  dominators_ = {};
  retained_ = {};
}

double ObjectAnalysis::ShareOf(uint64_t bytes) {
  if (reached_bytes() == 0) return 0;
  return static_cast<double>(bytes) / static_cast<double>(reached_bytes());
}

// What an object retains includes all objects of its type below it. So only the
// topmost ones are added.
std::vector<uint64_t> ObjectAnalysis::RetainedByType() {
  if (!stored_.retained_by_type.empty()) return stored_.retained_by_type;
  std::vector<uint64_t> by_type(graph_->types().size());
  // Walks down the tree and up again, counting how many of each type are above.
  std::vector<uint32_t> above(graph_->types().size());
  struct Step {
    NodeId node;
    uint32_t next_child;
  };
  std::vector<Step> way;
  const auto enter = [&](NodeId node) {
    if (above[graph_->type(node)]++ == 0) {
      by_type[graph_->type(node)] += retained(node);
    }
    way.push_back({node, 0});
  };
  enter(kRootNode);
  while (!way.empty()) {
    Step& step = way.back();
    const auto below = children().Of(step.node);
    if (step.next_child < below.size()) {
      enter(below[step.next_child++]);
    } else {
      --above[graph_->type(step.node)];
      way.pop_back();
    }
  }
  return by_type;
}

// Dominators answer this for one node only: two nodes may share what neither
// retains alone. So reachability is computed twice.
std::vector<bool> ObjectAnalysis::GoneWith(
    const std::vector<bool>& nodes) const {
  std::vector<bool> gone = ReachedNodes(*graph_);
  const std::vector<bool> others = ReachedNodes(*graph_, nodes);
  for (NodeId node = 0; node < graph_->nodes(); ++node) {
    if (others[node]) gone[node] = false;
  }
  return gone;
}

std::vector<NodeId> ObjectAnalysis::GoneWithNode(NodeId node) {
  if (!IsReached(node)) return {};
  std::vector<NodeId> gone = {node};
  std::vector<bool> is_gone(graph_->nodes());
  is_gone[node] = true;
  // The nearest dominator of a freed node is on every path to it, so it was
  // found before.
  for (size_t at = 0; at < gone.size(); ++at) {
    for (uint32_t e = graph_->first_edge(gone[at]);
         e < graph_->first_edge(gone[at] + 1); ++e) {
      const NodeId target = graph_->target(e);
      if (graph_->kind(e) == EDGE_WEAK || is_gone[target]) continue;
      const NodeId by = dominator(target);
      if (by == kNoNode || !is_gone[by]) continue;
      is_gone[target] = true;
      gone.push_back(target);
    }
  }
  return gone;
}

uint64_t ObjectAnalysis::RetainedTogether(const std::vector<bool>& nodes,
                                          uint64_t* objects) {
  const std::vector<bool> gone = GoneWith(nodes);
  uint64_t bytes = 0, count = 0;
  for (NodeId node = 0; node < graph_->nodes(); ++node) {
    if (!gone[node]) continue;
    bytes += graph_->size_bytes(node);
    count += !graph_->is_synthetic(node);
  }
  if (objects != nullptr) *objects = count;
  return bytes;
}

}  // namespace pymemrun
