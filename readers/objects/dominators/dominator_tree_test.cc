#include "readers/objects/dominators/dominator_tree.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;

constexpr uint32_t kNone = DominatorTree::kNone;
constexpr uint8_t kStrong = 1, kWeak = 14;

// A graph that is built edge by edge.
class Graph {
 public:
  explicit Graph(uint32_t nodes) : edges_(nodes) {}
  void Add(uint32_t from, uint32_t to, uint8_t kind = kStrong) {
    edges_[from].push_back({to, kind});
  }
  GraphView View() {
    first_ = {0};
    for (const auto& edges : edges_) {
      for (const auto& [to, kind] : edges) {
        target_.push_back(to);
        kind_.push_back(kind);
      }
      first_.push_back(static_cast<uint32_t>(target_.size()));
    }
    return {first_, target_, kind_, kWeak};
  }
  // What is reached from node 0 when `without` is not there.
  std::vector<bool> ReachedWithout(uint32_t without) const {
    std::vector<bool> reached(edges_.size());
    std::vector<uint32_t> left;
    if (without != 0) left.push_back(0), reached[0] = true;
    while (!left.empty()) {
      const uint32_t node = left.back();
      left.pop_back();
      for (const auto& [to, kind] : edges_[node]) {
        if (kind == kWeak || to == without || reached[to]) continue;
        reached[to] = true;
        left.push_back(to);
      }
    }
    return reached;
  }

 private:
  std::vector<std::vector<std::pair<uint32_t, uint8_t>>> edges_;
  std::vector<uint32_t> first_, target_;
  std::vector<uint8_t> kind_;
};

TEST(DominatorTree, OfADiamond) {
  Graph graph(6);
  graph.Add(0, 1);
  graph.Add(1, 2);
  graph.Add(1, 3);
  graph.Add(2, 4);
  graph.Add(3, 4);
  const DominatorTree tree = DominatorTree::Of(graph.View());
  EXPECT_THAT(tree.dominators(), ElementsAre(kNone, 0, 1, 1, 1, kNone));
  EXPECT_TRUE(tree.IsReached(0));
  EXPECT_FALSE(tree.IsReached(5));
  EXPECT_TRUE(tree.IsWithin(4, 1));
  EXPECT_FALSE(tree.IsWithin(4, 2));
  std::vector<uint64_t> sizes = {1, 10, 100, 1000, 10000, 7};
  tree.Retain(&sizes);
  EXPECT_THAT(sizes, ElementsAre(11111, 11110, 100, 1000, 10000, 7));
  const auto children = tree.ChildrenOf();
  EXPECT_THAT(children.Of(1), ElementsAre(2, 3, 4));
  EXPECT_THAT(children.Of(4), ElementsAre());
}

TEST(DominatorTree, AWeakReferenceKeepsNothingAlive) {
  Graph graph(3);
  graph.Add(0, 1);
  graph.Add(0, 2, kWeak);
  graph.Add(1, 2);
  EXPECT_THAT(DominatorTree::Of(graph.View()).dominators(),
              ElementsAre(kNone, 0, 1));
}

TEST(DominatorTree, OfARootAlone) {
  Graph graph(1);
  EXPECT_THAT(DominatorTree::Of(graph.View()).dominators(), ElementsAre(kNone));
}

TEST(DominatorTree, OfAChainOfAMillion) {
  constexpr uint32_t kNodes = 1000000;
  Graph graph(kNodes);
  for (uint32_t i = 1; i < kNodes; ++i) {
    graph.Add(i - 1, i);
    graph.Add(i, i - 1);
  }
  const DominatorTree tree = DominatorTree::Of(graph.View());
  std::vector<uint64_t> sizes(kNodes, 1);
  tree.Retain(&sizes);
  for (uint32_t i = 0; i < kNodes; i += 99999) {
    EXPECT_EQ(sizes[i], kNodes - i) << i;
  }
}

// What a node retains is what is not reached without it.
TEST(DominatorTree, RetainsWhatReachabilitySaysOnAThousandRandomGraphs) {
  std::mt19937_64 random(18);
  for (int round = 0; round < 1000; ++round) {
    const auto nodes = static_cast<uint32_t>(1 + random() % 40);
    Graph graph(nodes);
    const uint64_t edges = random() % (3 * nodes);
    for (uint64_t i = 0; i < edges; ++i) {
      graph.Add(random() % nodes, random() % nodes,
                random() % 8 == 0 ? kWeak : kStrong);
    }
    std::vector<uint64_t> own(nodes);
    for (uint64_t& size : own) size = random() % 1000;
    const DominatorTree tree = DominatorTree::Of(graph.View());
    std::vector<uint64_t> retained = own;
    tree.Retain(&retained);
    const std::vector<bool> all = graph.ReachedWithout(kNone);
    for (uint32_t node = 0; node < nodes; ++node) {
      ASSERT_EQ(tree.IsReached(node), all[node]) << round << " " << node;
      if (!all[node]) continue;
      const std::vector<bool> others = graph.ReachedWithout(node);
      uint64_t expected = 0;
      for (uint32_t other = 0; other < nodes; ++other) {
        if (!all[other] || others[other]) continue;
        expected += own[other];
        EXPECT_TRUE(tree.IsWithin(other, node));
      }
      ASSERT_EQ(retained[node], expected) << round << " " << node;
    }
  }
}

}  // namespace
}  // namespace pymemrun
