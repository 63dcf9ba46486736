// Writes the graph as a Perfetto trace with a HeapGraph, which Perfetto's UI
// shows in its heap dump explorer.
#ifndef PYMEMRUN_READERS_EXPORT_OBJECTS_PERFETTO_HEAP_H_
#define PYMEMRUN_READERS_EXPORT_OBJECTS_PERFETTO_HEAP_H_

#include <cstdint>

#include "readers/objects/graph/object_graph.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Writes while it walks the graph. The root node is the only root; weak
// references are left out. Returns the number of leaves that are counted in the
// objects that hold them, see FoldedLeaves.
uint64_t WritePerfettoHeap(const ObjectGraph& graph, uint64_t most_nodes,
                           OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_OBJECTS_PERFETTO_HEAP_H_
