#include "readers/objects/findings/suspects.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/object_text.h"
#include "readers/testing/object_graph_for_tests.h"

namespace pymemrun {
namespace {

using Program = SmallProgram;
using testing::IsEmpty;

TEST(Suspects, NameTheObjectAndWhereItAccumulates) {
  Program program;
  const uint32_t cache = program.builder.Add("app.Cache", 48);
  const uint32_t dict = program.builder.Add("dict", 300);
  const uint32_t list = program.AddList(50, 1000);
  program.PutGlobal("CACHE", cache);
  program.builder.Refer(cache, dict, EDGE_DICT);
  program.builder.Put(dict, program.builder.AddText("entries"), list);
  program.PutGlobal("small", program.AddList(2, 100));
  ObjectAnalysis analysis(GraphOf(program.builder));
  const ObjectGraph& graph = analysis.graph();
  const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
  ASSERT_EQ(suspects.size(), 1u);
  EXPECT_EQ(suspects[0].node, program.In(graph, cache));
  EXPECT_EQ(suspects[0].accumulation, program.In(graph, list));
  EXPECT_EQ(suspects[0].retained_bytes, 48u + 300 + 56 + 56 + 50 * 1000);
  EXPECT_EQ(suspects[0].most_objects, 50u);
  EXPECT_EQ(suspects[0].most_bytes, 50000u);
  EXPECT_EQ(graph.type_name(suspects[0].most_type), "str");
}

TEST(Suspects, TwoInOneObjectAreTwo) {
  Program program;
  const uint32_t app = program.builder.Add("app.App", 48);
  const uint32_t one = program.AddList(40, 1000);
  const uint32_t other = program.AddList(50, 1000);
  program.builder.Refer(app, one, EDGE_ATTRIBUTE, "one");
  program.builder.Refer(app, other, EDGE_ATTRIBUTE, "other");
  program.PutGlobal("APP", app);
  ObjectAnalysis analysis(GraphOf(program.builder));
  const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
  ASSERT_EQ(suspects.size(), 2u);
  EXPECT_EQ(suspects[0].node, program.In(analysis.graph(), other));
  EXPECT_EQ(suspects[1].node, program.In(analysis.graph(), one));
}

TEST(Suspects, OfLargeItemsAlikeTheListIsTheSuspect) {
  for (const uint32_t items : {2u, 4u}) {
    Program program;
    const uint32_t list = program.builder.Add("list", 100);
    for (uint32_t i = 0; i < items; ++i) {
      const uint32_t view = program.builder.Add("memoryview", 200);
      program.builder.Refer(view, program.builder.Add("bytearray", 9000),
                            EDGE_OTHER);
      program.builder.Refer(list, view, EDGE_INDEX);
    }
    program.PutGlobal("views", list);
    ObjectAnalysis analysis(GraphOf(program.builder));
    const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
    if (items == 2) {
      EXPECT_EQ(suspects.size(), 2u);
      continue;
    }
    ASSERT_EQ(suspects.size(), 1u);
    EXPECT_EQ(suspects[0].node, program.In(analysis.graph(), list));
    EXPECT_EQ(suspects[0].retained_bytes, 100u + 4 * 9200);
    EXPECT_EQ(suspects[0].most_objects, 4u);
    EXPECT_EQ(suspects[0].most_bytes, 4 * 9200u);
  }
}

TEST(Suspects, ObjectsThatNothingInCommonHoldsAreAGroup) {
  Program program;
  for (int i = 0; i < 30; ++i) {
    const uint32_t session = program.builder.Add("app.Session", 500);
    program.PutGlobal("session" + std::to_string(i), session);
  }
  ObjectAnalysis analysis(GraphOf(program.builder));
  const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.3);
  ASSERT_EQ(suspects.size(), 1u);
  EXPECT_EQ(suspects[0].objects, 30u);
  EXPECT_EQ(suspects[0].retained_bytes, 15000u);
  EXPECT_EQ(KindText(analysis.graph(), suspects[0].node), "app.Session");
}

TEST(Suspects, OfAGroupATypicalMemberIsNamed) {
  Program program;
  const auto add = [&program](const std::string& name, uint64_t bytes) {
    const uint32_t session = program.builder.Add("app.Session", bytes);
    program.PutGlobal(name, session);
    return session;
  };
  add("odd", 10);
  for (int i = 0; i < 30; ++i) add("session" + std::to_string(i), 500);
  add("large", 3000);
  ObjectAnalysis analysis(GraphOf(program.builder));
  const ObjectGraph& graph = analysis.graph();
  EXPECT_EQ(graph.size_bytes(FindSuspects(&analysis, 0.3)[0].node), 500u);
  // Where one has most of the bytes, it stands for them.
  Program other;
  for (int i = 0; i < 9; ++i) {
    other.PutGlobal("list" + std::to_string(i),
                    other.builder.Add("app.Session", i == 4 ? 9000 : 500));
  }
  ObjectAnalysis most(GraphOf(other.builder));
  const std::vector<Suspect> suspects = FindSuspects(&most, 0.7);
  ASSERT_EQ(suspects.size(), 1u);
  EXPECT_EQ(most.graph().size_bytes(suspects[0].node), 9000u);
}

TEST(Suspects, AThreadsLocalsAndFramesVariablesAreFound) {
  Program program;
  const uint32_t threads = program.builder.AddGroup("threads");
  const uint32_t frame = program.builder.Add("frame", 400, "work");
  const uint32_t list = program.AddList(50, 1000);
  program.builder.Refer(threads, frame, EDGE_OTHER);
  program.builder.Refer(frame, list, EDGE_LOCAL, "rows");
  ObjectAnalysis analysis(GraphOf(program.builder));
  const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
  ASSERT_EQ(suspects.size(), 1u);
  EXPECT_EQ(suspects[0].node, program.In(analysis.graph(), list));
}

// A chain of exceptions, or of cells: each holds the next one.
TEST(Suspects, ALinkedListIsOne) {
  Program program;
  const uint32_t queue = program.builder.Add("app.Queue", 48);
  program.PutGlobal("QUEUE", queue);
  uint32_t holder = queue;
  std::vector<uint32_t> links;
  for (int i = 0; i < 500; ++i) {
    links.push_back(program.builder.Add("app.Link", 64));
    program.builder.Refer(holder, links[i], EDGE_ATTRIBUTE, "next");
    program.builder.Refer(links[i], program.builder.Add("app.Job", 40),
                          EDGE_ATTRIBUTE, "job");
    holder = links[i];
  }
  ObjectAnalysis analysis(GraphOf(program.builder));
  const ObjectGraph& graph = analysis.graph();
  const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
  ASSERT_EQ(suspects.size(), 1u);
  EXPECT_EQ(suspects[0].node, program.In(graph, queue));
  EXPECT_EQ(suspects[0].accumulation, program.In(graph, links[0]));
  EXPECT_EQ(suspects[0].retained_bytes, 48u + 500 * 104);
  EXPECT_EQ(suspects[0].most_objects, 500u);
  EXPECT_EQ(suspects[0].most_bytes, 500u * 104);
  EXPECT_EQ(graph.type_name(suspects[0].most_type), "app.Link");
}

// With 511 nodes; its root.
uint32_t PutTree(Program* program) {
  std::vector<uint32_t> tree;
  for (int i = 0; i < 511; ++i) {
    tree.push_back(program->builder.Add("app.Tree", 64));
    program->builder.Refer(tree[i], program->builder.Add("str", 36),
                           EDGE_ATTRIBUTE, "name");
    if (i > 0) {
      // Attributes may be in a dictionary.
      const uint32_t attributes = program->builder.Add("dict", 100);
      program->builder.Refer(tree[(i - 1) / 2], attributes, EDGE_OTHER);
      program->builder.Refer(attributes, tree[i], EDGE_VALUE);
    }
  }
  program->PutGlobal("TREE", tree[0]);
  return tree[0];
}

TEST(Suspects, ATreeIsOne) {
  Program program;
  const uint32_t tree = PutTree(&program);
  ObjectAnalysis analysis(GraphOf(program.builder));
  const ObjectGraph& graph = analysis.graph();
  const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
  ASSERT_EQ(suspects.size(), 1u);
  EXPECT_EQ(suspects[0].node, program.In(graph, tree));
  EXPECT_EQ(suspects[0].accumulation, program.In(graph, tree));
  EXPECT_EQ(suspects[0].retained_bytes, 511u * 200 - 100);
  EXPECT_EQ(suspects[0].most_objects, 511u);
  EXPECT_EQ(suspects[0].most_bytes, 511u * 200 - 100);
  EXPECT_EQ(graph.type_name(suspects[0].most_type), "app.Tree");
}

// With 255 nodes. Each keeps its children in a list, which is an attribute of
// its own or in its dictionary.
uint32_t PutTreeOfLists(bool has_dict, Program* program) {
  std::vector<uint32_t> tree, lists;
  for (int i = 0; i < 255; ++i) {
    tree.push_back(program->builder.Add("app.Node", 64));
    lists.push_back(program->builder.Add("list", 100));
    uint32_t holder = tree[i];
    if (has_dict) {
      holder = program->builder.Add("dict", 200);
      program->builder.Refer(tree[i], holder, EDGE_DICT);
    }
    program->builder.Refer(holder, lists[i], EDGE_ATTRIBUTE, "children");
    if (i > 0) {
      program->builder.Refer(lists[(i - 1) / 2], tree[i], EDGE_INDEX);
    }
  }
  program->PutGlobal("TREE", tree[0]);
  return tree[0];
}

TEST(Suspects, ATreeOfListsIsOneOfItsNodes) {
  for (const bool has_dict : {false, true}) {
    Program program;
    const uint32_t tree = PutTreeOfLists(has_dict, &program);
    ObjectAnalysis analysis(GraphOf(program.builder));
    const ObjectGraph& graph = analysis.graph();
    const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
    ASSERT_EQ(suspects.size(), 1u);
    EXPECT_EQ(suspects[0].node, program.In(graph, tree));
    EXPECT_EQ(suspects[0].accumulation, program.In(graph, tree));
    EXPECT_EQ(suspects[0].most_objects, 255u);
    EXPECT_EQ(suspects[0].most_bytes, 255u * (has_dict ? 364 : 164));
    EXPECT_EQ(graph.type_name(suspects[0].most_type), "app.Node");
  }
}

// Neither of its halves is a suspect by itself.
TEST(Suspects, ATreeBesideALargerObjectIsOne) {
  Program program;
  PutTree(&program);
  program.PutGlobal("LARGE", program.builder.Add("bytes", 560000));
  ObjectAnalysis analysis(GraphOf(program.builder));
  const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
  ASSERT_EQ(suspects.size(), 2u);
  EXPECT_EQ(suspects[1].most_objects, 511u);
  EXPECT_EQ(suspects[1].most_bytes, 511u * 200 - 100);
}

TEST(Suspects, DictionariesInADictionaryAreNot) {
  Program program;
  const uint32_t caches = program.builder.Add("dict", 200);
  program.PutGlobal("CACHES", caches);
  for (int i = 0; i < 3; ++i) {
    const uint32_t cache = program.builder.Add("dict", 200);
    program.builder.Refer(caches, cache, EDGE_VALUE);
    for (int k = 0; k < 50; ++k) {
      const uint32_t entry = program.builder.Add("dict", 100);
      program.builder.Refer(cache, entry, EDGE_VALUE);
      program.builder.Refer(entry, program.builder.Add("dict", 50), EDGE_VALUE);
    }
  }
  ObjectAnalysis analysis(GraphOf(program.builder));
  EXPECT_EQ(FindSuspects(&analysis, 0.1).size(), 3u);
}

// What is along the way down is too little, and so is what is below.
TEST(Suspects, BytesThatLeaveOnTheWayDownAreTold) {
  Program program;
  const uint32_t cache = program.builder.Add("app.Cache", 48);
  const uint32_t list = program.AddList(10, 850);
  program.PutGlobal("CACHE", cache);
  program.builder.Refer(cache, list, EDGE_ATTRIBUTE, "entries");
  program.builder.Refer(cache, program.builder.Add("app.Index", 1500),
                        EDGE_ATTRIBUTE, "index");
  program.PutGlobal("others", program.builder.Add("app.Other", 85000));
  ObjectAnalysis analysis(GraphOf(program.builder));
  const std::vector<Suspect> suspects = FindSuspects(&analysis, 0.1);
  ASSERT_EQ(suspects.size(), 2u);
  EXPECT_EQ(suspects[1].node, program.In(analysis.graph(), cache));
  EXPECT_EQ(suspects[1].accumulation, program.In(analysis.graph(), list));
  EXPECT_EQ(suspects[1].most_objects, 10u);
  EXPECT_EQ(suspects[1].most_bytes, 8500u);
}

TEST(Suspects, WithoutAnyThereAreNone) {
  Program program;
  ObjectAnalysis analysis(GraphOf(program.builder));
  EXPECT_THAT(FindSuspects(&analysis, 0.9), IsEmpty());
}

}  // namespace
}  // namespace pymemrun
