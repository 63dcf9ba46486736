// A heap snapshot (.heapsnapshot), as Chrome's developer tools and memlab open
// it. The form is V8's: https://github.com/v8/v8, src/profiler.
#ifndef PYMEMRUN_READERS_EXPORT_OBJECTS_HEAP_SNAPSHOT_H_
#define PYMEMRUN_READERS_EXPORT_OBJECTS_HEAP_SNAPSHOT_H_

#include <cstdint>

#include "readers/objects/graph/object_graph.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Writes it as it goes. Gives how many leaves are counted in the objects that
// hold them, see FoldedLeaves.
uint64_t WriteHeapSnapshot(const ObjectGraph& graph, uint64_t most_nodes,
                           OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_OBJECTS_HEAP_SNAPSHOT_H_
