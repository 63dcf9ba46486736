// Object graphs for tests.
#ifndef PYMEMRUN_READERS_TESTING_OBJECT_GRAPH_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_OBJECT_GRAPH_FOR_TESTS_H_

#include <memory>
#include <string>

#include "format/stream/byte_io.h"
#include "gtest/gtest.h"
#include "readers/objects/dump_loader.h"
#include "readers/objects/object_graph.h"
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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_OBJECT_GRAPH_FOR_TESTS_H_
