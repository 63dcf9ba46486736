// Instance dictionaries folded into their instances, as Meliae did it.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_COLLAPSE_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_COLLAPSE_H_

#include <cstdint>
#include <memory>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

struct Collapsed {
  std::unique_ptr<ObjectGraph> graph;
  uint64_t dicts = 0;  // that were folded
};

// A graph without the dictionaries that a single object refers to, as its
// __dict__. The object has their size and their references, values with the
// names of their keys. Keys that nothing else refers to stay, as its keys.
Collapsed CollapseInstanceDicts(const ObjectGraph& graph);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_COLLAPSE_H_
