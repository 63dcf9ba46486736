// What is found in object graphs.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/objects/findings/analysis.h"
#include "readers/objects/findings/collapse.h"
#include "readers/objects/findings/cycles.h"
#include "readers/objects/findings/duplicates.h"
#include "readers/objects/findings/graph_diff.h"
#include "readers/objects/graph/object_text.h"
#include "readers/testing/object_graph_for_tests.h"

namespace pymemrun {
namespace {

using Program = SmallProgram;
using testing::ElementsAre;

TEST(ObjectAnalysis, RetainsWhatOnlyAnObjectKeepsAlive) {
  Program program;
  const uint32_t first = program.AddList(3, 100), both = program.AddList(1, 10);
  const uint32_t second = program.AddList(2, 100);
  program.builder.Refer(first, both, EDGE_INDEX);
  program.builder.Refer(second, both, EDGE_INDEX);
  program.PutGlobal("first", first);
  program.PutGlobal("second", second);
  ObjectAnalysis analysis(GraphOf(program.builder));
  const ObjectGraph& graph = analysis.graph();
  EXPECT_EQ(analysis.retained(program.In(graph, first)), 356u);
  EXPECT_EQ(analysis.retained(program.In(graph, second)), 256u);
  EXPECT_EQ(analysis.retained(program.In(graph, both)), 66u);
  EXPECT_EQ(analysis.reached_bytes(), graph.total_bytes());
  // All lists go: with them goes what two of them share.
  std::vector<bool> lists(graph.nodes());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    lists[node] = KindText(graph, node) == "list";
  }
  uint64_t objects = 0;
  EXPECT_EQ(analysis.RetainedTogether(lists, &objects), 356u + 256 + 66);
  EXPECT_EQ(objects, 9u);
  const std::vector<uint64_t> by_type = analysis.RetainedByType();
  EXPECT_EQ(by_type[graph.type(program.In(graph, first))], 356u + 256 + 66);
}

TEST(ObjectAnalysis, ObjectsBelowOthersOfTheirTypeCountOnce) {
  Program program;
  const uint32_t outer = program.AddList(1, 100), inner = program.AddList(1, 7);
  program.builder.Refer(outer, inner, EDGE_INDEX);
  program.PutGlobal("outer", outer);
  ObjectAnalysis analysis(GraphOf(program.builder));
  const ObjectGraph& graph = analysis.graph();
  EXPECT_EQ(analysis.RetainedByType()[graph.type(program.In(graph, outer))],
            56u + 100 + 56 + 7);
}

TEST(DuplicatesTest, AreEqualInTypeAndAllOfTheValue) {
  Program program;
  const std::string same(150, 'x');
  std::string other = same;
  other.back() = 'y';
  const uint32_t first = program.builder.AddText(same);
  program.PutGlobal("a", first);
  program.PutGlobal("b", program.builder.AddText(same));
  program.PutGlobal("c", program.builder.AddText(other));
  program.PutGlobal("d", program.builder.AddText("short"));
  program.PutGlobal("e", program.builder.AddText("short", "bytes"));
  program.PutGlobal("f", program.builder.AddText("short"));
  const auto graph = GraphOf(program.builder);
  const std::vector<Duplicates> found = FindDuplicates(*graph, NodeFilter());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, program.In(*graph, first));
  EXPECT_EQ(found[0].count, 2u);
  EXPECT_EQ(found[0].size_bytes, 2 * 199u);
  EXPECT_EQ(found[0].saving_bytes, 199u);
  EXPECT_EQ(found[1].saving_bytes, 54u);
}

TEST(AnalysisTest, WhatGoesWithANodeIsWhatNoOtherWayReaches) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    ObjectRunBuilder builder;
    std::vector<uint32_t> nodes = {builder.AddGroup("modules")};
    for (uint64_t i = 1; i < 60; ++i) {
      nodes.push_back(builder.Add("app.Node", i));
      builder.Refer(nodes[random() % i], nodes[i], EDGE_OTHER);
    }
    for (int i = 0; i < 25; ++i) {
      builder.Refer(nodes[random() % 60], nodes[random() % 60],
                    i % 5 == 0 ? EDGE_WEAK : EDGE_OTHER);
    }
    ObjectAnalysis analysis(GraphOf(builder));
    for (NodeId node = 0; node < analysis.graph().nodes(); ++node) {
      std::vector<bool> chosen(analysis.graph().nodes());
      chosen[node] = true;
      std::vector<bool> gone(analysis.graph().nodes());
      for (const NodeId one : analysis.GoneWithNode(node)) gone[one] = true;
      EXPECT_EQ(gone, analysis.GoneWith(chosen)) << round << " " << node;
    }
  }
}

TEST(CyclesTest, AreFoundAmongWhatNoOtherRootReaches) {
  Program program;
  ObjectRunBuilder& builder = program.builder;
  const uint32_t group = builder.AddGroup(kNotReached);
  const uint32_t a = builder.Add("app.Node", 48), b = builder.Add("dict", 64);
  const uint32_t self = builder.Add("list", 72);
  const uint32_t hangs = builder.Add("str", 60);
  builder.Refer(group, a, EDGE_OTHER);
  builder.Refer(group, self, EDGE_OTHER);
  builder.Refer(a, b, EDGE_DICT);
  builder.Put(b, builder.AddText("owner"), a);
  builder.Refer(b, hangs, EDGE_OTHER);
  builder.Refer(self, self, EDGE_INDEX);
  // A circle that is reached is not among them.
  const uint32_t c = builder.Add("app.Node", 48);
  builder.Refer(c, c, EDGE_ATTRIBUTE, "me");
  program.PutGlobal("c", c);
  // A weak reference back makes no circle.
  const uint32_t held = builder.Add("app.Held", 48);
  const uint32_t weak = builder.Add("weakref", 72);
  builder.Refer(group, held, EDGE_OTHER);
  builder.Refer(held, weak, EDGE_OTHER);
  builder.Refer(weak, held, EDGE_WEAK);
  const auto graph = GraphOf(program.builder);
  const Cycles found = FindCycles(*graph);
  EXPECT_EQ(found.objects, 7u);
  EXPECT_EQ(found.size_bytes, 48u + 64 + 72 + 60 + 54 + 48 + 72);
  ASSERT_EQ(found.cycles.size(), 2u);
  EXPECT_THAT(found.cycles[0].nodes,
              ElementsAre(program.In(*graph, a), program.In(*graph, b)));
  EXPECT_EQ(found.cycles[0].size_bytes, 112u);
  EXPECT_THAT(found.cycles[1].nodes, ElementsAre(program.In(*graph, self)));
}

TEST(CyclesTest, OfTheSameTypesStandTogetherWithWhatHangsOffThem) {
  Program program;
  ObjectRunBuilder& builder = program.builder;
  const uint32_t group = builder.AddGroup(kNotReached);
  const uint32_t shared = builder.Add("bytes", 500);
  for (int i = 0; i < 3; ++i) {
    const uint32_t node = builder.Add("app.Node", 48);
    const uint32_t dict = builder.Add("dict", 64);
    const uint32_t extra = builder.Add("app.Node", 48);
    builder.Refer(group, node, EDGE_OTHER);
    builder.Refer(node, dict, EDGE_DICT);
    builder.Refer(dict, node, EDGE_OTHER);
    builder.Refer(node, extra, EDGE_OTHER);
    if (i == 1) builder.Refer(extra, node, EDGE_OTHER);  // a part of it
    builder.Refer(dict, builder.Add("str", 100 + i), EDGE_OTHER);
    builder.Refer(extra, shared, EDGE_OTHER);
  }
  const uint32_t self = builder.Add("list", 72);
  builder.Refer(group, self, EDGE_OTHER);
  builder.Refer(self, self, EDGE_INDEX);
  builder.Refer(self, shared, EDGE_INDEX);
  const auto graph = GraphOf(program.builder);
  const Cycles found = FindCycles(*graph);
  ASSERT_EQ(found.groups.size(), 2u);
  const CycleGroup& nodes = found.groups[0];
  EXPECT_EQ(nodes.circles, 3u);
  EXPECT_EQ(nodes.objects, 7u);
  EXPECT_EQ(nodes.size_bytes, 3u * (48 + 64) + 48);
  ASSERT_EQ(nodes.types.size(), 2u);
  EXPECT_EQ(graph->type_name(nodes.types[0]), "app.Node");  // 4 of them
  EXPECT_EQ(graph->type_name(nodes.types[1]), "dict");
  EXPECT_EQ(nodes.first, found.cycles[0].nodes[0]);
  // Two extra nodes, three strings, and what is shared, once.
  EXPECT_EQ(nodes.hanging_objects, 6u);
  EXPECT_EQ(nodes.hanging_bytes, 2u * 48 + 303 + 500);
  EXPECT_EQ(found.groups[1].circles, 1u);
  EXPECT_EQ(found.groups[1].hanging_objects, 0u);
}

TEST(CyclesTest, OfALongListNeedNoDeepStack) {
  ObjectRunBuilder builder;
  uint32_t last = builder.AddGroup(kNotReached);
  const uint32_t first = builder.Add("app.Link", 10);
  builder.Refer(last, first, EDGE_OTHER);
  last = first;
  for (int i = 1; i < 100000; ++i) {
    const uint32_t next = builder.Add("app.Link", 10);
    builder.Refer(last, next, EDGE_ATTRIBUTE, "next");
    last = next;
  }
  builder.Refer(last, first, EDGE_ATTRIBUTE, "next");
  const Cycles found = FindCycles(*GraphOf(builder));
  ASSERT_EQ(found.cycles.size(), 1u);
  EXPECT_EQ(found.cycles[0].nodes.size(), 100000u);
}

TEST(Collapse, FoldsWhatAnInstanceAloneHas) {
  Program program;
  ObjectRunBuilder& builder = program.builder;
  const uint32_t thing = builder.Add("app.Thing", 48);
  const uint32_t own = builder.Add("dict", 100);
  const uint32_t other = builder.Add("app.Thing", 48);
  const uint32_t shared = builder.Add("dict", 200);
  const uint32_t value = builder.Add("int", 28, "7");
  builder.Refer(thing, own, EDGE_DICT);
  builder.Refer(thing, value, EDGE_OTHER);
  builder.Put(own, builder.AddText("size"), value);
  builder.Refer(other, shared, EDGE_DICT);
  program.PutGlobal("thing", thing);
  program.PutGlobal("other", other);
  program.PutGlobal("shared", shared);
  const auto graph = GraphOf(builder);
  const Collapsed collapsed = CollapseInstanceDicts(*graph);
  const ObjectGraph& folded = *collapsed.graph;
  EXPECT_EQ(collapsed.dicts, 2u);  // the module's too
  EXPECT_EQ(folded.objects(), graph->objects() - 2);
  EXPECT_EQ(folded.total_bytes(), graph->total_bytes());
  const NodeId now = program.In(folded, thing);
  EXPECT_EQ(folded.size_bytes(now), 148u);
  EXPECT_EQ(program.In(folded, own), kNoNode);
  EXPECT_NE(program.In(folded, shared), kNoNode);
  EXPECT_EQ(folded.size_bytes(program.In(folded, other)), 48u);
  ASSERT_EQ(folded.degree(now), 3u);
  const uint32_t first = folded.first_edge(now);
  EXPECT_EQ(EdgeText(folded, first), "key");
  EXPECT_EQ(EdgeText(folded, first + 1), "['size']");
  EXPECT_EQ(folded.target(first + 2), program.In(folded, value));
}

TEST(GraphDiff, TellsWhatCameWentAndGrew) {
  Program older, newer;
  const uint32_t kept = older.builder.Add("list", 100, std::nullopt, 1);
  const uint32_t gone = older.builder.Add("app.Old", 60);
  older.PutGlobal("kept", kept);
  older.PutGlobal("gone", gone);
  const uint32_t grown = newer.builder.Add("list", 180, std::nullopt, 9);
  const uint32_t fresh = newer.builder.Add("app.New", 50);
  newer.PutGlobal("kept", grown);
  newer.PutGlobal("came", fresh);
  ASSERT_EQ(older.builder.AddressOf(kept), newer.builder.AddressOf(grown));
  const auto before = GraphOf(older.builder), after = GraphOf(newer.builder);
  EXPECT_TRUE(IsOneProcess(*before, *after));
  NodeFilter filter;
  ASSERT_TRUE(filter.Add("type!=str").ok());
  std::vector<std::string> rows;
  for (const ObjectsDiffRow& row : DiffGraphs(*before, *after, filter, true)) {
    rows.push_back(row.name + " " + std::to_string(row.net_bytes()) + " +" +
                   std::to_string(row.came) + " -" + std::to_string(row.gone) +
                   " grown " + std::to_string(row.grown_bytes));
  }
  EXPECT_THAT(rows,
              ElementsAre("list 80 +0 -0 grown 80", "app.Old -60 +0 -1 grown 0",
                          "app.New 50 +1 -0 grown 0"));
  newer.builder.header().set_pid(7);
  EXPECT_FALSE(IsOneProcess(*before, *GraphOf(newer.builder)));
}

}  // namespace
}  // namespace pymemrun
