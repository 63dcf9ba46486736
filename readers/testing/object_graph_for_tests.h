// Object graphs for tests.
#ifndef PYMEMRUN_READERS_TESTING_OBJECT_GRAPH_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_OBJECT_GRAPH_FOR_TESTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "format/stream/byte_io.h"
#include "gtest/gtest.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/testing/object_run_builder.h"

namespace pymemrun {

inline std::unique_ptr<ObjectGraph> GraphOf(const ObjectRunBuilder& builder) {
  auto graph = std::make_unique<ObjectGraph>();
  const std::string file = builder.Write();
  StringSource source(file);
  DumpLoader loader(graph.get());
  ReadResult result;
  EXPECT_TRUE(ReadStream(&source, {}, &loader, &result).ok());
  EXPECT_TRUE(loader.Finish().ok());
  return graph;
}

// sys.modules = {'app': module whose dict is `app`}; nothing else.
struct SmallProgram {
  ObjectRunBuilder builder;
  uint32_t modules, sys_modules, module, app;
  SmallProgram() {
    modules = builder.AddGroup("modules");
    sys_modules = builder.Add("dict", 1000);
    module = builder.Add("module", 72, "app");
    app = builder.Add("dict", 500);
    builder.Refer(modules, sys_modules, EDGE_ROOT, "sys.modules");
    builder.Put(sys_modules, builder.AddText("app"), module);
    builder.Refer(module, app, EDGE_DICT);
  }
  void PutGlobal(const std::string& name, uint32_t value) {
    builder.Put(app, builder.AddText(name), value);
  }
  // A list of `count` strings of this size.
  uint32_t AddList(int count, uint64_t size_bytes) {
    const uint32_t list = builder.Add("list", 56, std::nullopt, count);
    for (int i = 0; i < count; ++i) {
      builder.Refer(list, builder.Add("str", size_bytes), EDGE_INDEX);
    }
    return list;
  }
  NodeId In(const ObjectGraph& graph, uint32_t node) {
    return graph.Find(builder.AddressOf(node));
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_OBJECT_GRAPH_FOR_TESTS_H_
