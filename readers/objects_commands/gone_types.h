// Objects that would go, by their types.
#ifndef PYMEMRUN_READERS_OBJECTS_COMMANDS_GONE_TYPES_H_
#define PYMEMRUN_READERS_OBJECTS_COMMANDS_GONE_TYPES_H_

#include <cstdint>
#include <vector>

#include "readers/objects/object_graph.h"
#include "readers/output/table.h"

namespace pymemrun {

// A row for each type of these nodes, the largest first, `limit` of them (0:
// all). Without what is no object.
Table TypesOf(const ObjectGraph& graph, const std::vector<NodeId>& nodes,
              uint64_t limit);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_COMMANDS_GONE_TYPES_H_
