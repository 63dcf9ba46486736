// Loading dumps: what is in them, what damage leaves of them, parents, chains,
// what people read, and which objects they choose.
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/objects/graph/chains.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/objects/graph/object_text.h"
#include "readers/objects/graph/parents.h"
#include "readers/testing/object_graph_for_tests.h"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Loaded {
  std::unique_ptr<ObjectGraph> graph;
  Printed printed;
};

Loaded Load(const std::string& contents) {
  Loaded loaded;
  const TempFile file(contents);
  loaded.printed = RunProgram("pymemobj", [&](const Console& console) {
    int code = kExitOk;
    loaded.graph = LoadObjects(file.path(), console, &code);
    return code;
  });
  return loaded;
}

std::vector<std::string> References(const ObjectGraph& graph, NodeId node) {
  std::vector<std::string> all;
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    all.push_back(EdgeText(graph, e) + " > " +
                  NodeText(graph, graph.target(e)));
  }
  return all;
}

// modules -> dict -> module -> .__dict__ -> {'CACHE': list of two}; a weak
// reference to the list; a list and a dict in a circle.
struct Small {
  ObjectRunBuilder builder;
  uint32_t modules, dict, list, leaf, circle;
  Small() {
    modules = builder.AddGroup("modules");
    dict = builder.Add("dict", 232, std::nullopt, 1);
    list = builder.Add("list", 72, std::nullopt, 2);
    leaf = builder.AddText("it's \"new\"\n");
    circle = builder.Add("app.Node", 48);
    const uint32_t key = builder.AddText("CACHE");
    const uint32_t number = builder.Add("int", 28, "7");
    const uint32_t weak = builder.Add("weakref", 80);
    builder.Refer(modules, dict, EDGE_DICT);
    builder.Put(dict, key, list);
    builder.Refer(list, leaf, EDGE_INDEX);
    builder.Refer(list, number, EDGE_INDEX);
    builder.Refer(list, circle, EDGE_INDEX);
    builder.Refer(circle, list, EDGE_ATTRIBUTE, "owner");
    builder.Refer(modules, weak, EDGE_OTHER);
    builder.Refer(weak, list, EDGE_WEAK);
  }
  uint64_t At(uint32_t node) { return builder.AddressOf(node); }
};

TEST(ObjectGraph, HasWhatTheDumpHas) {
  Small small;
  const Loaded loaded = Load(small.builder.Write());
  ASSERT_NE(loaded.graph, nullptr);
  EXPECT_EQ(loaded.printed.err, "");
  const ObjectGraph& graph = *loaded.graph;
  EXPECT_EQ(graph.nodes(), 9u);
  EXPECT_EQ(graph.objects(), 7u);
  EXPECT_EQ(graph.references(), 10u);
  EXPECT_EQ(graph.total_bytes(), 232u + 72 + 60 + 48 + 54 + 28 + 80);
  const NodeId list = graph.Find(small.At(small.list));
  ASSERT_NE(list, kNoNode);
  EXPECT_EQ(graph.size_bytes(list), 72u);
  EXPECT_EQ(graph.details(list).length, 2u);
  EXPECT_EQ(graph.degree(list), 3u);
  EXPECT_EQ(graph.Find(1), kNoNode);
  EXPECT_EQ(graph.Find(0), kNoNode);
}

TEST(ObjectGraph, MayLeaveDetailsOut) {
  Small small;
  // A late reference, so that references are moved.
  const uint32_t group = small.builder.AddGroup("late");
  small.builder.Refer(group, small.list, EDGE_ATTRIBUTE, "name");
  const std::string file = small.builder.Write();
  StringSource source(file);
  ObjectGraph graph;
  graph.OmitDetails();
  DumpLoader loader(&graph);
  ReadResult result;
  ASSERT_TRUE(ReadStream(&source, {}, &loader, &result).ok());
  ASSERT_TRUE(graph.AddReference({kRootNode, 3, 1, EDGE_ATTRIBUTE}).ok());
  ASSERT_TRUE(loader.Finish().ok());
  EXPECT_EQ(graph.references(), 13u);
  EXPECT_EQ(graph.degree(kRootNode), 3u);
  const NodeId list = graph.Find(small.At(small.list));
  EXPECT_EQ(graph.size_bytes(list), 72u);
  EXPECT_FALSE(graph.details(list).length.has_value());
  EXPECT_EQ(graph.edge_name(0), "");
  EXPECT_EQ(NodeText(graph, list), "list 0x1200");
}

TEST(ObjectText, IsWhatPythonWouldSay) {
  Small small;
  const Loaded loaded = Load(small.builder.Write());
  const ObjectGraph& graph = *loaded.graph;
  EXPECT_THAT(References(graph, graph.Find(small.At(small.list))),
              ElementsAre("[0] > str 0x1300 'it\\'s \"new\"\\n'",
                          "[1] > int 0x1600 7", "[2] > app.Node 0x1400"));
  EXPECT_THAT(References(graph, graph.Find(small.At(small.circle))),
              ElementsAre(".owner > list 0x1200"));
  EXPECT_THAT(
      References(graph, graph.Find(small.At(small.dict))),
      ElementsAre("key > str 0x1500 'CACHE'", "['CACHE'] > list 0x1200"));
  EXPECT_THAT(References(graph, kRootNode),
              ElementsAre("modules > <group> modules"));
  EXPECT_EQ(NodeByText(graph, "0x1200"), graph.Find(small.At(small.list)));
  EXPECT_EQ(NodeByText(graph, "4608"), graph.Find(small.At(small.list)));
  EXPECT_EQ(NodeByText(graph, "#1"), 1u);
  for (const char* none : {"", "#99", "x", "0x", "0x7", "#"}) {
    EXPECT_EQ(NodeByText(graph, none), kNoNode) << none;
  }
}

TEST(ObjectText, CutTextsAndBytesSaySo) {
  ObjectRunBuilder builder;
  const uint32_t group = builder.AddGroup("modules");
  const auto add = [&](uint32_t node) {
    builder.Refer(group, node, EDGE_OTHER);
    return builder.AddressOf(node);
  };
  const uint64_t cut = add(builder.AddText(std::string(200, 'x')));
  const uint64_t accents = add(builder.Add("str", 80, "\xC3\xA9", 1));
  const uint64_t bytes = add(builder.Add("bytes", 40, "a'\x01\xFF", 9));
  const uint32_t frame = builder.Add("frame", 400, "main.py handle");
  builder.node(frame).line = 15;
  const uint32_t code = builder.Add("code", 200, "handle");
  builder.Refer(frame, code, EDGE_CODE);
  builder.Refer(code, builder.AddText("/app/job.py"), EDGE_ATTRIBUTE,
                "co_filename");
  add(frame);
  const Loaded loaded = Load(builder.Write());
  const ObjectGraph& graph = *loaded.graph;
  const auto text = [&](uint64_t at) {
    return ValueText(graph, graph.Find(at));
  };
  EXPECT_EQ(text(cut), "'" + std::string(100, 'x') + "'...");
  EXPECT_NE(graph.details(graph.Find(cut)).hash, 0u);
  EXPECT_EQ(text(accents), "'\xC3\xA9'");
  EXPECT_EQ(text(bytes), "b'a\\'\\x01\\xff'...");
  EXPECT_EQ(text(builder.AddressOf(frame)), "job.py:15 main.py handle");
}

TEST(Parents, AreTheReferencesBackwards) {
  Small small;
  const Loaded loaded = Load(small.builder.Write());
  const ObjectGraph& graph = *loaded.graph;
  const Parents parents(graph);
  std::vector<std::string> all;
  for (const uint32_t edge :
       parents.EdgesTo(graph.Find(small.At(small.list)))) {
    all.push_back(NodeText(graph, graph.SourceOf(edge)) + " " +
                  EdgeText(graph, edge));
  }
  EXPECT_THAT(
      all, ElementsAre("dict 0x1100 ['CACHE']", "weakref 0x1700 weak reference",
                       "app.Node 0x1400 .owner"));
  EXPECT_EQ(parents.count(kRootNode), 0u);
}

std::string TextOf(const ObjectGraph& graph, const Chain& chain) {
  std::string text;
  for (const uint32_t edge : chain) text += EdgeText(graph, edge) + " ";
  return text;
}

TEST(Chains, AreTheShortestFirstAndTakeNoWeakReference) {
  Small small;
  const uint32_t thread = small.builder.AddGroup("threads");
  const uint32_t frame = small.builder.Add("frame", 400);
  small.builder.Refer(thread, frame, EDGE_OTHER);
  small.builder.Refer(frame, small.circle, EDGE_LOCAL, "node");
  const Loaded loaded = Load(small.builder.Write());
  const ObjectGraph& graph = *loaded.graph;
  const Parents parents(graph);
  const NodeId list = graph.Find(small.At(small.list));
  std::vector<std::string> texts;
  for (const Chain& chain : ShortestChains(graph, parents, list, 5)) {
    texts.push_back(TextOf(graph, chain));
  }
  EXPECT_THAT(texts, ElementsAre("modules .__dict__ ['CACHE'] ",
                                 "threads refers to local node .owner "));
  EXPECT_EQ(ShortestChains(graph, parents, list, 1).size(), 1u);
  EXPECT_THAT(ShortestChains(graph, parents, kRootNode, 3), IsEmpty());
}

TEST(RootChains, AreTheFirstOfTheShortestChains) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    ObjectRunBuilder builder;
    std::vector<uint32_t> all = {builder.AddGroup("modules"),
                                 builder.AddGroup("threads")};
    while (all.size() < 60) all.push_back(builder.Add("list", 56));
    for (int i = 0; i < 120; ++i) {
      builder.Refer(all[random() % all.size()], all[2 + random() % 58],
                    random() % 8 == 0 ? EDGE_WEAK : EDGE_INDEX);
    }
    const Loaded loaded = Load(builder.Write());
    const Parents parents(*loaded.graph);
    RootChains chains(*loaded.graph);
    for (NodeId node = 0; node < loaded.graph->nodes(); ++node) {
      const auto shortest = ShortestChains(*loaded.graph, parents, node, 1);
      EXPECT_EQ(chains.To(node), shortest.empty() ? Chain() : shortest[0]);
    }
  }
}

// A frame of a thread is nearer, but what it runs is a function of the module.
TEST(RootChains, GlobalsAreTheModules) {
  ObjectRunBuilder builder;
  const uint32_t threads = builder.AddGroup("threads");
  const uint32_t modules = builder.AddGroup("modules");
  const uint32_t module = builder.Add("module", 72);
  const uint32_t globals = builder.Add("dict", 232);
  const uint32_t cache = builder.Add("list", 56);
  const uint32_t function = builder.Add("function", 144);
  const uint32_t exec_globals = builder.Add("dict", 232);
  builder.Refer(threads, globals, EDGE_GLOBALS);
  builder.Refer(threads, function, EDGE_LOCAL, "f");
  builder.Refer(function, exec_globals, EDGE_GLOBALS);
  builder.Refer(modules, module, EDGE_ROOT, "app");
  builder.Refer(module, globals, EDGE_DICT);
  builder.Refer(globals, cache, EDGE_ATTRIBUTE, "CACHE");
  const Loaded loaded = Load(builder.Write());
  RootChains chains(*loaded.graph);
  const Chain chain = chains.To(loaded.graph->Find(builder.AddressOf(cache)));
  ASSERT_EQ(chain.size(), 4u);
  EXPECT_EQ(loaded.graph->kind(chain[2]), EDGE_DICT);
  // No module has these.
  EXPECT_EQ(
      chains.To(loaded.graph->Find(builder.AddressOf(exec_globals))).size(),
      3u);
}

TEST(Chains, NothingKeepsWhatOnlyWeakReferencesReach) {
  ObjectRunBuilder builder;
  const uint32_t group = builder.AddGroup("modules");
  const uint32_t gone = builder.Add("app.Gone", 48);
  builder.Refer(group, gone, EDGE_WEAK);
  const Loaded loaded = Load(builder.Write());
  const NodeId node = loaded.graph->Find(builder.AddressOf(gone));
  EXPECT_THAT(ShortestChains(*loaded.graph, Parents(*loaded.graph), node, 3),
              IsEmpty());
  EXPECT_FALSE(ReachedNodes(*loaded.graph)[node]);
}

TEST(DumpLoader, SaysHowADumpEnded) {
  Small small;
  small.builder.end().set_outcome(ObjectsEnd::CRASHED);
  small.builder.end().set_signal(11);
  small.builder.end().set_at_type(small.builder.Type("app.Node"));
  Loaded loaded = Load(small.builder.Write());
  EXPECT_THAT(loaded.printed.err,
              HasSubstr("the dump ended with signal 11 at a app.Node"));
  EXPECT_EQ(loaded.printed.code, kExitOk);
  small.builder.end().set_outcome(ObjectsEnd::NO_MEMORY);
  loaded = Load(small.builder.Write());
  EXPECT_THAT(loaded.printed.err, HasSubstr("because memory ran out"));
  small.builder.end().set_at_type(4000000000);
  small.builder.end().set_outcome(ObjectsEnd::CRASHED);
  loaded = Load(small.builder.Write());
  EXPECT_THAT(loaded.printed.err, HasSubstr("at an object"));
}

TEST(DumpLoader, OfACutOrFlippedFileGivesASoundGraph) {
  Small small;
  const std::string file = small.builder.Write();
  for (size_t at = 0; at < file.size(); ++at) {
    Load(file.substr(0, at));
    std::string flipped = file;
    flipped[at] ^= 0x10;
    const Loaded loaded = Load(flipped);
    EXPECT_TRUE(loaded.graph != nullptr || loaded.printed.code != kExitOk);
  }
}

// Records that miss a batch, as damage leaves them.
TEST(DumpLoader, LeavesOutReferencesToLostNodes) {
  ObjectGraph graph;
  DumpLoader loader(&graph);
  ObjectTypeDef type;
  type.set_id(1);
  type.set_name("list");
  loader.OnObjectType(type);
  const auto node = [](uint32_t number) {
    ObjectNode made;
    made.type = 1;
    made.number = number;
    made.address = 0x100 * number;
    made.size_bytes = 10;
    return made;
  };
  const ObjectNode first[] = {node(3), node(4)}, second[] = {node(8)};
  const ObjectReference before[] = {{3, 4}, {3, 5}, {4, 8}, {2, 3}};
  const ObjectReference after[] = {{4, 3}, {8, 3}, {8, 9}};
  EXPECT_TRUE(loader.OnObjects(first, 2));
  EXPECT_TRUE(loader.OnReferences(before, 4));
  EXPECT_TRUE(loader.OnObjects(second, 1));
  EXPECT_TRUE(loader.OnReferences(after, 3));
  ASSERT_TRUE(loader.Finish().ok());
  EXPECT_EQ(graph.nodes(), 4u);
  EXPECT_EQ(graph.objects(), 3u);
  EXPECT_EQ(graph.facts().lost_references, 3u);
  EXPECT_FALSE(graph.facts().has_root);
  EXPECT_THAT(References(graph, 1), ElementsAre("refers to > list 0x400"));
  EXPECT_THAT(References(graph, 2),
              ElementsAre("refers to > list 0x800", "refers to > list 0x300"));
  EXPECT_THAT(References(graph, 3), ElementsAre("refers to > list 0x300"));
  // One of the circle is what the root leads to.
  EXPECT_THAT(References(graph, kRootNode),
              ElementsAre("gc tracked, not reached > list 0x300"));
  EXPECT_TRUE(ReachedNodes(graph)[3]);
}

TEST(DumpLoader, RefusesWhatIsNoDump) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.Flush();
  EXPECT_THAT(Load(sink.contents()).printed.err,
              HasSubstr("a run file has no objects: pymemrun --objects exit"));
  EXPECT_EQ(Load("").printed.code, kExitFailed);
  EXPECT_THAT(Load("hello").printed.err,
              HasSubstr("not a dump of objects: found a text file"));
}

TEST(NodeFilterTest, TakesConditionsThatAllMustHold) {
  ObjectRunBuilder builder;
  const uint32_t modules = builder.AddGroup("modules");
  const uint32_t text = builder.AddText("GET /index");
  const uint32_t item = builder.Add("app.sub.Item", 2048);
  builder.Refer(modules, text, EDGE_ROOT, "x");
  builder.Refer(modules, item, EDGE_ROOT, "y");
  const auto graph = GraphOf(builder);
  const auto matches = [&](std::vector<std::string> conditions, uint32_t node) {
    NodeFilter filter;
    for (const std::string& condition : conditions) {
      const absl::Status status = filter.Add(condition);
      EXPECT_TRUE(status.ok()) << status;
    }
    return filter.Matches(*graph, graph->Find(builder.AddressOf(node)));
  };
  for (const char* yes :
       {"type=app.sub.Item", "type=Item", "type=app.*", "module=app.sub",
        "module!=os", "size=2K", "size>=2048", "size<1M", "size>1", "size<=2K",
        "size!=3", "type!=str"}) {
    EXPECT_TRUE(matches({yes}, item)) << yes;
  }
  for (const char* no : {"type=str", "value=*", "value!=x", "length>0",
                         "size>2048", "module=os", "size<2048"}) {
    EXPECT_FALSE(matches({no}, item)) << no;
  }
  EXPECT_TRUE(matches({"type=str", "value=GET *", "length=10"}, text));
  // The module of a built-in type may be said, or not.
  EXPECT_TRUE(matches({"type=builtins.str"}, text));
  EXPECT_TRUE(matches({"type=builtins.s?r", "type!=builtins.list"}, text));
  EXPECT_FALSE(matches({"type=builtins.Item"}, item));
  EXPECT_FALSE(matches({"type=str", "value=PUT *"}, text));
  EXPECT_FALSE(NodeFilter().Matches(*graph, kRootNode));
  for (const char* wrong :
       {"", "type", "typ=x", "size=x", "size>", "type>x", "=x", "value<3"}) {
    NodeFilter filter;
    EXPECT_FALSE(filter.Add(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace pymemrun
