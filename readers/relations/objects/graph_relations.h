// The object graph as relations: nodes, edges, dominators and types. Cells are
// made on demand.
#ifndef PYMEMRUN_READERS_RELATIONS_OBJECTS_GRAPH_RELATIONS_H_
#define PYMEMRUN_READERS_RELATIONS_OBJECTS_GRAPH_RELATIONS_H_

#include "readers/objects/findings/analysis.h"
#include "readers/relations/engine/relation.h"

namespace pymemrun {

// The analysis must outlive them.
Relations GraphRelations(ObjectAnalysis* analysis);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_OBJECTS_GRAPH_RELATIONS_H_
