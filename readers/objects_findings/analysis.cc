#include "readers/objects_findings/analysis.h"

namespace pymemrun {

const Parents& ObjectAnalysis::parents() {
  if (parents_ == nullptr) parents_ = std::make_unique<Parents>(*graph_);
  return *parents_;
}

RootChains& ObjectAnalysis::chains() {
  if (chains_ == nullptr) chains_ = std::make_unique<RootChains>(*graph_);
  return *chains_;
}

const DominatorTree& ObjectAnalysis::tree() {
  if (tree_ == nullptr) {
    tree_ = std::make_unique<DominatorTree>(
        DominatorTree::Of({graph_->first_edges(), graph_->targets(),
                           graph_->kinds(), EDGE_WEAK}));
  }
  return *tree_;
}

const DominatorTree::Children& ObjectAnalysis::children() {
  if (!children_.has_value()) children_ = tree().ChildrenOf();
  return *children_;
}

const std::vector<uint64_t>& ObjectAnalysis::retained() {
  if (retained_.empty()) {
    const DominatorTree& tree = this->tree();  // takes most while it is made
    retained_.resize(graph_->nodes());
    for (NodeId node = 0; node < graph_->nodes(); ++node) {
      retained_[node] = graph_->size_bytes(node);
    }
    tree.Retain(&retained_);
  }
  return retained_;
}

double ObjectAnalysis::ShareOf(uint64_t bytes) {
  if (reached_bytes() == 0) return 0;
  return static_cast<double>(bytes) / static_cast<double>(reached_bytes());
}

std::vector<uint64_t> ObjectAnalysis::RetainedByType() {
  const std::vector<uint64_t>& retained = this->retained();
  std::vector<uint64_t> by_type(graph_->types().size());
  // Down the tree, and up again; how many of each type are above.
  std::vector<uint32_t> above(graph_->types().size());
  struct Step {
    NodeId node;
    uint32_t next_child;
  };
  std::vector<Step> way;
  const auto enter = [&](NodeId node) {
    if (above[graph_->type(node)]++ == 0) {
      by_type[graph_->type(node)] += retained[node];
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

std::vector<bool> ObjectAnalysis::GoneWith(
    const std::vector<bool>& nodes) const {
  std::vector<bool> gone = ReachedNodes(*graph_);
  const std::vector<bool> others = ReachedNodes(*graph_, nodes);
  for (NodeId node = 0; node < graph_->nodes(); ++node) {
    if (others[node]) gone[node] = false;
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
