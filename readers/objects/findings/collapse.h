// Folds instance dictionaries into their instances, as Meliae did.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_COLLAPSE_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_COLLAPSE_H_

#include <cstdint>
#include <memory>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// The result of CollapseInstanceDicts().
struct Collapsed {
  std::unique_ptr<ObjectGraph> graph;
  uint64_t dicts = 0;  // number of folded dictionaries
};

// A graph without the dictionaries that only one object refers to, as its
// __dict__. The object gets their size and their references; values are named
// after their keys. Keys without another reference stay, as keys of the object.
Collapsed CollapseInstanceDicts(const ObjectGraph& graph);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_COLLAPSE_H_
