// Circles of objects that nothing but themselves keeps alive.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_CYCLES_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_CYCLES_H_

#include <cstdint>
#include <vector>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Objects that are all reached from each other, or one that refers to itself.
struct Cycle {
  std::vector<NodeId> nodes;  // in the file's order
  uint64_t size_bytes = 0;    // of these alone
};

// All circles of objects of the same types.
struct CycleGroup {
  std::vector<uint32_t> types;  // those with most objects first
  uint64_t circles = 0, objects = 0, size_bytes = 0;
  NodeId first = kNoNode;  // of its largest circle
  // What only such circles lead to, and no circle has: it hangs off them. What
  // several groups lead to counts with the first.
  uint64_t hanging_objects = 0, hanging_bytes = 0;
};

struct Cycles {
  std::vector<Cycle> cycles;       // the largest first
  std::vector<CycleGroup> groups;  // the one with most bytes first
  // All that no other root reaches: the circles, what hangs on them, and what
  // C code alone holds.
  uint64_t objects = 0, size_bytes = 0;
};

// The circles among what the root reaches through kNotReached alone.
Cycles FindCycles(const ObjectGraph& graph);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_CYCLES_H_
