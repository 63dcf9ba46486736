// Strings and bytes that are there several times.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_DUPLICATES_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_DUPLICATES_H_

#include <cstdint>
#include <vector>

#include "readers/objects/graph/node_filter.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Equal objects of one type.
struct Duplicates {
  NodeId first;  // of them in the file
  uint64_t count;
  uint64_t size_bytes;    // of all
  uint64_t saving_bytes;  // if one served for all: of all without the largest
};

// Those that there are at least two of, the largest saving first. Texts that
// are cut are equal when their lengths and hashes are, too.
std::vector<Duplicates> FindDuplicates(const ObjectGraph& graph,
                                       const NodeFilter& filter);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_DUPLICATES_H_
