// A Perfetto trace with the graph as a heap graph, which Perfetto's UI shows in
// its heap dump explorer. The form is Perfetto's HeapGraph.
#ifndef PYMEMRUN_READERS_EXPORT_OBJECTS_PERFETTO_HEAP_H_
#define PYMEMRUN_READERS_EXPORT_OBJECTS_PERFETTO_HEAP_H_

#include <cstdint>

#include "readers/objects/graph/object_graph.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Writes it as it goes. The root node is the one root; weak references are left
// out. Gives how many leaves are counted in the objects that hold them, see
// FoldedLeaves.
uint64_t WritePerfettoHeap(const ObjectGraph& graph, uint64_t most_nodes,
                           OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_OBJECTS_PERFETTO_HEAP_H_
