#include "readers/objects/findings/retained_tree.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/object_graph_for_tests.h"

namespace pymemrun {
namespace {

// Below the root `count` lists, the first with one string, the next with two,
// and so on; of 1000 bytes the first, each a byte more than the one before.
std::unique_ptr<ObjectGraph> Lists(int count) {
  ObjectRunBuilder builder;
  const uint32_t group = builder.AddGroup("modules");
  for (int i = 1; i <= count; ++i) {
    const uint32_t list = builder.Add("list", 56 + i, std::nullopt, i);
    builder.Refer(group, list, EDGE_ROOT, "list");
    for (int j = 0; j < i; ++j) {
      builder.Refer(list, builder.Add("str", 1000 + j), EDGE_INDEX);
    }
  }
  return GraphOf(builder);
}

TEST(RetainedTree, GivesAwayNoByte) {
  ObjectAnalysis analysis(Lists(30));
  RetainedLimits limits;
  limits.least_share = 0.01;
  const auto items = LargestRetained(&analysis, kRootNode, limits);
  std::vector<uint64_t> within(items.size());
  std::vector<bool> is_open(items.size());
  for (size_t i = 1; i < items.size(); ++i) {
    ASSERT_LT(items[i].parent, i);
    EXPECT_EQ(items[i].level, items[items[i].parent].level + 1);
    within[items[i].parent] += items[i].retained_bytes;
    is_open[items[i].parent] = true;
  }
  uint64_t small = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].node == kNoNode) {
      small += items[i].objects;
      continue;
    }
    EXPECT_EQ(items[i].retained_bytes, analysis.retained(items[i].node));
    if (!is_open[i]) continue;
    EXPECT_EQ(within[i] + analysis.graph().size_bytes(items[i].node),
              items[i].retained_bytes);
  }
  EXPECT_GT(small, 0u);
  EXPECT_TRUE(is_open[0]);
}

TEST(RetainedTree, SmallOnesOfATypeStandTogether) {
  ObjectAnalysis analysis(Lists(3));
  RetainedLimits limits;
  limits.least_share = 0.3;  // no string, and the longest two lists
  const auto items = LargestRetained(&analysis, kRootNode, limits);
  const ObjectGraph& graph = analysis.graph();
  std::vector<std::string> lines;
  for (const RetainedItem& item : items) {
    lines.push_back(absl::StrCat(
        item.level, " ", item.objects, " ",
        item.type == kManyTypes ? "?" : graph.type_name(item.type), " ",
        item.node == kNoNode ? "together" : "", item.retained_bytes));
  }
  EXPECT_THAT(lines, testing::ElementsAre(
                         "0 1 <root> 6178", "1 1 <group> 6178", "2 1 list 3062",
                         "2 1 list 2059", "2 1 ? together1057",
                         "3 3 str together3003", "3 2 str together2001"));
}

TEST(RetainedTree, OpensTheLargestWithinItsLimits) {
  ObjectAnalysis analysis(Lists(30));
  RetainedLimits limits;
  limits.most_items = 40;
  limits.least_share = 0;
  const auto items = LargestRetained(&analysis, kRootNode, limits);
  // The root, the group and its lists; then the strings of the longest list.
  ASSERT_EQ(items.size(), 2u + 30 + 30);
  EXPECT_EQ(items.back().parent, 2u);
  EXPECT_EQ(items[2].retained_bytes, 86u + 30 * 1000 + 29 * 30 / 2);
  limits.most_levels = 2;
  limits.most_items = 1000;
  for (const auto& item : LargestRetained(&analysis, kRootNode, limits)) {
    EXPECT_LE(item.level, 2u);
  }
}

TEST(RetainedTree, KnowsHowTheParentRefersToIt) {
  ObjectAnalysis analysis(Lists(2));
  const ObjectGraph& graph = analysis.graph();
  const auto items = LargestRetained(&analysis, kRootNode, RetainedLimits());
  ASSERT_EQ(items.size(), 7u);
  for (size_t i = 2; i < items.size(); ++i) {
    ASSERT_NE(items[i].edge, kNoEdge);
    EXPECT_EQ(graph.target(items[i].edge), items[i].node);
    EXPECT_EQ(graph.SourceOf(items[i].edge), items[items[i].parent].node);
  }
}

}  // namespace
}  // namespace pymemrun
