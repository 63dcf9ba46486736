// What would happen to the heap and to RSS if some objects were freed.
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_WHAT_IF_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_WHAT_IF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/objects/graph/object_graph.h"
#include "readers/replay/heap_in_rss/returned_memory.h"
#include "readers/run/console.h"

namespace pymemrun {

// What freeing some objects would change. Bytes are 0 if they are unknown.
struct WhatIf {
  uint64_t objects = 0;
  uint64_t object_bytes = 0;  // ObjectBatch.size_bytes
  // Why the heap, or RSS, is unknown; empty: it is known.
  std::string no_heap, no_rss;
  uint64_t heap_bytes = 0;
  uint64_t unplaced_bytes = 0;  // of heap_bytes, see BlocksOfObjects
  ReturnedMemory returned;
  uint64_t rss_bytes = 0;  // at the time of the dump
};

// `gone`: the objects to free, by node. `run_path`: the run file; empty: the
// one in the folder of the dump. Prints damage; *code is at least the exit
// status.
WhatIf Without(const ObjectGraph& graph, const std::vector<bool>& gone,
               const std::string& dump_path, const std::string& run_path,
               const Console& console, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_WHAT_IF_H_
