// What would become of the heap and of RSS if some objects went.
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_WHAT_IF_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_WHAT_IF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/objects/graph/object_graph.h"
#include "readers/replay/heap_in_rss/returned_memory.h"
#include "readers/run/console.h"

namespace pymemrun {

struct WhatIf {
  uint64_t objects = 0;
  uint64_t object_bytes = 0;  // ObjectBatch.size_bytes
  // Why nothing is known of the heap, or of RSS; empty: it is.
  std::string no_heap, no_rss;
  uint64_t heap_bytes = 0;
  uint64_t unplaced_bytes = 0;  // of heap_bytes, see BlocksOfObjects
  ReturnedMemory returned;
  uint64_t rss_bytes = 0;  // at the dump
};

// `gone`: by node. The dump is at `dump_path`; `run_path`: its run file; empty:
// the one beside it. What is damaged is said; *code is at least what the
// program is to exit with.
WhatIf Without(const ObjectGraph& graph, const std::vector<bool>& gone,
               const std::string& dump_path, const std::string& run_path,
               const Console& console, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_WHAT_IF_H_
