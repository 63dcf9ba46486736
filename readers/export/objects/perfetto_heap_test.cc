#include "readers/export/objects/perfetto_heap.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/perfetto_heap.pb.h"
#include "readers/testing/object_graph_for_tests.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;

// modules -> app.Cache -> list of as many strings; a weak reference.
std::unique_ptr<ObjectGraph> Cache(int entries) {
  ObjectRunBuilder builder;
  builder.header().set_pid(77);
  const uint32_t group = builder.AddGroup("modules");
  const uint32_t cache = builder.Add("app.Cache", 48);
  const uint32_t list = builder.Add("list", 72, std::nullopt, entries);
  const uint32_t weak = builder.Add("weakref", 80);
  builder.Refer(group, cache, EDGE_ROOT, "cache");
  builder.Refer(group, weak, EDGE_OTHER);
  builder.Refer(cache, list, EDGE_ATTRIBUTE, "entries");
  builder.Refer(weak, list, EDGE_WEAK);
  for (int i = 0; i < entries; ++i) {
    builder.Refer(list, builder.Add("str", 50), EDGE_INDEX);
  }
  return GraphOf(builder);
}

// What a reader of the trace sees.
struct Seen {
  std::map<uint64_t, std::string> types, fields;
  std::vector<perfetto::Object> objects;  // with their ids
  std::vector<uint64_t> roots;
  size_t packets = 0;
};

Seen Read(const ObjectGraph& graph, uint64_t most_nodes, uint64_t folded) {
  StringSink sink;
  OutputBuffer output(&sink);
  EXPECT_EQ(WritePerfettoHeap(graph, most_nodes, &output), folded);
  EXPECT_TRUE(output.Flush().ok());
  perfetto::Trace trace;
  EXPECT_TRUE(trace.ParseFromString(sink.contents()));
  Seen seen;
  EXPECT_EQ(trace.packets(0).process_tree().processes(0).pid(), 77);
  for (int i = 1; i < trace.packets_size(); ++i) {
    const perfetto::HeapGraph& part = trace.packets(i).heap_graph();
    EXPECT_EQ(part.pid(), 77);
    EXPECT_EQ(part.index(), seen.packets++);
    EXPECT_EQ(part.continued(), i + 1 < trace.packets_size());
    for (const auto& type : part.types()) seen.types[type.id()] = type.name();
    for (const auto& name : part.field_names()) {
      seen.fields[name.id()] = name.text();
    }
    uint64_t id = 0;
    for (perfetto::Object object : part.objects()) {
      id = object.id() != 0 ? object.id() : id + object.id_delta();
      object.set_id(id);
      EXPECT_EQ(object.fields_size(), object.targets_size());
      seen.objects.push_back(object);
    }
    for (const auto& root : part.roots()) {
      seen.roots.insert(seen.roots.end(), root.objects().begin(),
                        root.objects().end());
    }
  }
  return seen;
}

TEST(PerfettoHeap, HasObjectsTypesAndReferences) {
  const Seen seen = Read(*Cache(2), 100, 0);
  std::map<uint64_t, std::string> names;
  std::vector<std::string> lines;
  for (const auto& object : seen.objects) {
    names[object.id()] = seen.types.at(object.type());
  }
  for (const auto& object : seen.objects) {
    std::string line =
        absl::StrCat(names[object.id()], " ", object.size_bytes());
    for (int i = 0; i < object.targets_size(); ++i) {
      absl::StrAppend(&line, ", ", seen.fields.at(object.fields(i)), " -> ",
                      names.at(object.targets(i)));
    }
    lines.push_back(line);
  }
  EXPECT_THAT(lines,
              testing::UnorderedElementsAre(
                  "<root> 0, root modules -> <group>",
                  "<group> 0, root cache -> app.Cache, other -> weakref",
                  "app.Cache 48, attribute entries -> list", "weakref 80",
                  "list 72, index -> str, index -> str", "str 50", "str 50"));
  EXPECT_THAT(seen.roots, ElementsAre(seen.objects[0].id()));
}

TEST(PerfettoHeap, LargeGraphsGoIntoSeveralPackets) {
  const Seen seen = Read(*Cache(60000), 100000, 0);
  EXPECT_GT(seen.packets, 2u);
  EXPECT_EQ(seen.objects.size(), 60005u);
  uint64_t bytes = 0;
  for (const auto& object : seen.objects) bytes += object.size_bytes();
  EXPECT_EQ(bytes, 48u + 72 + 80 + 60000 * 50);
}

TEST(PerfettoHeap, CountsLeavesInTheirHoldersWhenThereAreTooMany) {
  const Seen seen = Read(*Cache(20), 10, 20);
  EXPECT_EQ(seen.objects.size(), 5u);
  uint64_t bytes = 0;
  for (const auto& object : seen.objects) bytes += object.size_bytes();
  EXPECT_EQ(bytes, 48u + 72 + 80 + 20 * 50);
}

}  // namespace
}  // namespace pymemrun
