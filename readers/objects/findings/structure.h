// The nodes that any program has, and that hold all others.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_STRUCTURE_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_STRUCTURE_H_

#include <vector>

#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Synthetic nodes, modules, frames, and their dictionaries.
std::vector<bool> StructureNodes(const ObjectGraph& graph);

// By node: who holds it, that is the topmost of what dominates it that is no
// structure; itself, where nothing else does. Of what only the cycle collector
// knows of it is the group of that. kNoNode of structure and of what the root
// does not reach.
std::vector<NodeId> HoldersOf(ObjectAnalysis* analysis);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_STRUCTURE_H_
