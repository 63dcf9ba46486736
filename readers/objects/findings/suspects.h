// What holds the memory: objects, or objects of one type together, that retain
// much of it.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_SUSPECTS_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_SUSPECTS_H_

#include <cstdint>
#include <vector>

#include "readers/objects/findings/analysis.h"

namespace pymemrun {

struct Suspect {
  // The object, or of a group one that is as most of its bytes are.
  NodeId node;
  uint64_t objects = 1;  // more: a group of its type
  uint64_t retained_bytes = 0;
  // Where they accumulate: down from `node` each object retains most of what
  // the one above does, and below this one that ends. Of a group: `node`. Of a
  // linked list or a tree: its first object.
  NodeId accumulation;
  // What most of the bytes right below that, or in the list or tree, are in: so
  // many objects of a type. 0 objects: nothing is below.
  uint32_t most_type = 0;
  uint64_t most_objects = 0, most_bytes = 0;
  // The line that allocated most of these, or of the group's objects, how many,
  // and one of them. 0: it is not known.
  uint32_t most_line = 0;
  uint64_t most_line_objects = 0;
  NodeId most_line_node = kNoNode;
  // How many of them lie in blocks that earlier objects may have been made in:
  // what allocated these says nothing of them.
  uint64_t reused_objects = 0;
};

// Those that retain at least `share` of all, the largest first. Left out
// is what belongs to any program: modules and their dictionaries, threads, and
// groups of types, functions or code.
std::vector<Suspect> FindSuspects(ObjectAnalysis* analysis, double share);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_SUSPECTS_H_
