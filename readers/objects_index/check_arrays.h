// Whether the arrays of an index fit together, so that all may read them.
#ifndef PYMEMRUN_READERS_OBJECTS_INDEX_CHECK_ARRAYS_H_
#define PYMEMRUN_READERS_OBJECTS_INDEX_CHECK_ARRAYS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "readers/objects/graph_arrays.h"
#include "readers/objects_findings/analysis.h"

namespace pymemrun {

// Of a graph that has so many types. A node or a reference that any array names
// is there, and each part of an array is within it. Linear in time; takes no
// memory. Fails with the array that is wrong.
absl::Status CheckArrays(const GraphArrays& graph, size_t types,
                         const StoredFindings& findings);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_CHECK_ARRAYS_H_
