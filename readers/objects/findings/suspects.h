// What holds the memory: objects, or groups of objects of one type, that retain
// a large part.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_SUSPECTS_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_SUSPECTS_H_

#include <cstdint>
#include <vector>

#include "readers/objects/findings/analysis.h"

namespace pymemrun {

// An object or a group that may be a leak.
struct Suspect {
  // The object; for a group, a typical one by bytes.
  NodeId node;
  uint64_t objects = 1;  // more than 1: a group of its type
  uint64_t retained_bytes = 0;
  // Where memory accumulates: going down from `node`, each object retains most
  // of what the one above retains; this is the last one. For a group: `node`.
  // For a linked list or a tree: its first object.
  // kNoNode: unknown
  NodeId accumulation;
  // The type with most of the bytes directly below, or within the list or tree.
  // 0 objects: nothing is below.
  uint32_t most_type = 0;
  uint64_t most_objects = 0, most_bytes = 0;
  // The line that allocated most of these, or of the group's objects, with
  // their number and one of them. 0: unknown.
  uint32_t most_line = 0;
  uint64_t most_line_objects = 0;
  NodeId most_line_node = kNoNode;
  // How many of them are in blocks that earlier objects may have been made in,
  // so that the line may be wrong.
  uint64_t reused_objects = 0;
};

// The suspects that retain at least `share` of all bytes, the largest first.
// Leaves out what every program has: modules and their dictionaries, threads,
// and groups of types, functions or code.
std::vector<Suspect> FindSuspects(ObjectAnalysis* analysis, double share);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_SUSPECTS_H_
