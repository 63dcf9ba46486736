// The nodes that every program has, and that hold all others.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_STRUCTURE_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_STRUCTURE_H_

#include <vector>

#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Marks synthetic nodes, modules, frames, and their dictionaries.
std::vector<bool> StructureNodes(const ObjectGraph& graph);

// By node: its holder, the topmost of its dominators that is not structure, or
// the node itself. For objects that only the cycle collector knows, the holder
// is their group. kNoNode for structure, and for what the root does not reach.
std::vector<NodeId> HoldersOf(ObjectAnalysis* analysis);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_STRUCTURE_H_
