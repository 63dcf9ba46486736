#include "readers/export/objects/heap_snapshot.h"

#include <map>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/object_graph_for_tests.h"

namespace pymemrun {
namespace {

// modules -> app.Cache -> list of a string and an int; a weak reference.
class HeapSnapshotTest : public testing::Test {
 protected:
  HeapSnapshotTest() {
    ObjectRunBuilder builder;
    const uint32_t group = builder.AddGroup("modules");
    const uint32_t cache = builder.Add("app.Cache", 48);
    const uint32_t list = builder.Add("list", 72, std::nullopt, 2);
    const uint32_t text = builder.AddText("a\"e\n");
    const uint32_t number = builder.Add("int", 28, "7");
    const uint32_t weak = builder.Add("weakref", 80);
    builder.Refer(group, cache, EDGE_ROOT, "cache");
    builder.Refer(group, weak, EDGE_OTHER);
    builder.Refer(cache, list, EDGE_ATTRIBUTE, "entries");
    builder.Refer(list, text, EDGE_INDEX);
    builder.Refer(list, number, EDGE_INDEX);
    builder.Refer(weak, number, EDGE_WEAK);
    graph_ = GraphOf(builder);
  }
  nlohmann::json Written(uint64_t most_nodes, uint64_t folded) {
    StringSink sink;
    OutputBuffer output(&sink);
    EXPECT_EQ(WriteHeapSnapshot(*graph_, most_nodes, &output), folded);
    EXPECT_TRUE(output.Flush().ok());
    return nlohmann::json::parse(sink.contents());
  }

  std::unique_ptr<ObjectGraph> graph_;
};

// The self sizes by names, and the edges as "from>to type name".
std::map<std::string, int> Sizes(const nlohmann::json& json) {
  std::map<std::string, int> sizes;
  for (size_t at = 0; at < json["nodes"].size(); at += 7) {
    sizes[json["strings"][json["nodes"][at + 1].get<size_t>()]] =
        json["nodes"][at + 3];
  }
  return sizes;
}

std::vector<std::string> Edges(const nlohmann::json& json) {
  const auto name = [&](size_t at) -> std::string {
    return json["strings"][json["nodes"][at + 1].get<size_t>()];
  };
  std::vector<std::string> edges;
  size_t edge = 0;
  for (size_t node = 0; node < json["nodes"].size(); node += 7) {
    for (int i = 0; i < json["nodes"][node + 4]; ++i, edge += 3) {
      const auto& all = json["edges"];
      const std::string type =
          json["snapshot"]["meta"]["edge_types"][0][all[edge].get<size_t>()];
      edges.push_back(name(node) + " " + type + " " +
                      (type == "element"
                           ? std::to_string(all[edge + 1].get<int>())
                           : json["strings"][all[edge + 1].get<size_t>()]
                                 .get<std::string>()) +
                      " " + name(all[edge + 2]));
    }
  }
  EXPECT_EQ(edge, json["edges"].size());
  return edges;
}

TEST_F(HeapSnapshotTest, HasNodesInTheOrderOfTheirEdges) {
  const nlohmann::json json = Written(100, 0);
  EXPECT_EQ(json["snapshot"]["node_count"], 7);
  EXPECT_EQ(json["snapshot"]["edge_count"], 7);
  EXPECT_EQ(json["nodes"].size(), 49u);
  const auto sizes = Sizes(json);
  EXPECT_EQ(sizes.at("app.Cache"), 48);
  EXPECT_EQ(sizes.at("list"), 72);
  EXPECT_THAT(
      Edges(json),
      testing::ElementsAre("<root> internal modules modules",
                           "modules internal cache app.Cache",
                           "modules internal refers to weakref",
                           "app.Cache property entries list", testing::_,
                           "list element 0 'a\"e\\n'", "list element 1 int"));
}

TEST_F(HeapSnapshotTest, CountsLeavesInTheirHoldersWhenThereAreTooMany) {
  const nlohmann::json json = Written(6, 1);
  EXPECT_EQ(json["snapshot"]["node_count"], 6);
  EXPECT_EQ(json["snapshot"]["edge_count"], 6);
  EXPECT_EQ(Sizes(json).at("list"), 72 + 49 + 4);
}

}  // namespace
}  // namespace pymemrun
