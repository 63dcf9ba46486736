// Writes a heap snapshot (.heapsnapshot) for Chrome's developer tools and
// memlab. The format is V8's: https://github.com/v8/v8, src/profiler.
#ifndef PYMEMRUN_READERS_EXPORT_OBJECTS_HEAP_SNAPSHOT_H_
#define PYMEMRUN_READERS_EXPORT_OBJECTS_HEAP_SNAPSHOT_H_

#include <cstdint>

#include "readers/objects/graph/object_graph.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Writes while it walks the graph. Returns the number of leaves that are
// counted in the objects that hold them, see FoldedLeaves.
uint64_t WriteHeapSnapshot(const ObjectGraph& graph, uint64_t most_nodes,
                           OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_OBJECTS_HEAP_SNAPSHOT_H_
