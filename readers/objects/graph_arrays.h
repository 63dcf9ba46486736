// The arrays of a loaded graph, for who goes over all of it.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_ARRAYS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_ARRAYS_H_

#include <cstdint>

#include "absl/types/span.h"

namespace pymemrun {

// Valid as long as the graph is, and is not changed.
struct GraphArrays {
  absl::Span<const uint64_t> addresses;  // of each node
  // 2^32 - 1: it has that, or more; see ObjectGraph::size_bytes().
  absl::Span<const uint32_t> sizes;
  absl::Span<const uint32_t> types;
  absl::Span<const uint32_t> first_edges;  // one more than there are nodes
  absl::Span<const uint32_t> targets;      // of each reference
  absl::Span<const uint8_t> kinds;
  absl::Span<const uint32_t> names;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_ARRAYS_H_
