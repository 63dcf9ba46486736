// Finds cycles of objects that only they themselves keep alive.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_CYCLES_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_CYCLES_H_

#include <cstdint>
#include <vector>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Objects that all reach each other, or one that refers to itself: a strongly
// connected component.
struct Cycle {
  std::vector<NodeId> nodes;  // in the file's order
  uint64_t size_bytes = 0;    // of these objects only
};

// All cycles whose objects have the same types.
struct CycleGroup {
  std::vector<uint32_t> types;  // most objects first
  uint64_t circles = 0, objects = 0, size_bytes = 0;
  NodeId first = kNoNode;  // an object of its largest cycle
  // Objects outside all cycles that only cycles of this kind lead to. Objects
  // that several groups lead to count with the first.
  uint64_t hanging_objects = 0, hanging_bytes = 0;
};

// Everything that only cycles keep alive.
struct Cycles {
  std::vector<Cycle> cycles;       // largest first
  std::vector<CycleGroup> groups;  // most bytes first
  // Everything that no other root reaches: the cycles, what they lead to, and
  // what only C code holds.
  uint64_t objects = 0, size_bytes = 0;
};

// Finds cycles among the objects that the root reaches only through
// kNotReached.
Cycles FindCycles(const ObjectGraph& graph);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_CYCLES_H_
