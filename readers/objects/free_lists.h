// Objects whose memory CPython keeps when they go, for the next of their type.
#ifndef PYMEMRUN_READERS_OBJECTS_FREE_LISTS_H_
#define PYMEMRUN_READERS_OBJECTS_FREE_LISTS_H_

#include "readers/objects/object_graph.h"

namespace pymemrun {

// Whether the object may lie in a block that an earlier one of its type was
// allocated with: what allocated the block need not be what made the object.
// Some types are here that have such a list in later versions of CPython alone.
bool MayBeReused(const ObjectGraph& graph, NodeId node);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FREE_LISTS_H_
