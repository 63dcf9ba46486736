// Finds strings and bytes objects with equal values.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_DUPLICATES_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_DUPLICATES_H_

#include <cstdint>
#include <vector>

#include "readers/objects/graph/node_filter.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Equal objects of one type.
struct Duplicates {
  NodeId first;  // the first in the file
  uint64_t count;
  uint64_t size_bytes;    // of all of them
  uint64_t saving_bytes;  // of all but the largest
};

// Values that occur at least twice, the largest saving first. Texts that were
// cut count as equal if their lengths and hashes are, too.
std::vector<Duplicates> FindDuplicates(const ObjectGraph& graph,
                                       const NodeFilter& filter);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_DUPLICATES_H_
