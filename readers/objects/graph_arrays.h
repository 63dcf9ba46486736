// The arrays that an object graph is: in memory, or in a mapped index.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_ARRAYS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_ARRAYS_H_

#include <cstdint>

#include "readers/objects/beside_blocks.h"
#include "readers/objects/grown_array.h"

namespace pymemrun {

// Not thread safe while it is filled.
struct GraphArrays {
  static constexpr uint32_t kLargeSize = ~uint32_t{0};
  static constexpr uint32_t kDetailsStep = 32;

  // A value for each node.
  GrownArray<uint64_t> addresses;
  GrownArray<uint32_t> sizes;  // kLargeSize: it is in large_sizes
  GrownArray<uint32_t> types;
  GrownArray<uint8_t> flags;
  GrownArray<uint32_t> first_edges;  // and one more
  // A value for each reference, in the order of the nodes they come from.
  GrownArray<uint32_t> targets;
  GrownArray<uint8_t> kinds;
  GrownArray<uint32_t> names;
  // Of some nodes, by rising node.
  GrownArray<uint32_t> large_nodes;
  GrownArray<uint64_t> large_sizes;
  BesideBlocks besides;
  // Details of nodes, one behind the other (node_details.h), and where those of
  // each kDetailsStep-th node begin.
  GrownArray<char> details;
  GrownArray<uint64_t> details_at;
  // The names of references, and where each ends.
  GrownArray<char> name_bytes;
  GrownArray<uint64_t> name_ends;

  // Calls visit(n, &array) for each of them; n is its number in an index.
  template <typename Visit>
  void ForEach(Visit visit) {
    Each(this, visit);
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    Each(this, visit);
  }

 private:
  template <typename Arrays, typename Visit>
  static void Each(Arrays* a, Visit visit) {
    visit(1, &a->addresses);
    visit(2, &a->sizes);
    visit(3, &a->types);
    visit(4, &a->flags);
    visit(5, &a->first_edges);
    visit(6, &a->targets);
    visit(7, &a->kinds);
    visit(8, &a->names);
    visit(9, &a->large_nodes);
    visit(10, &a->large_sizes);
    visit(11, &a->besides.nodes);
    visit(12, &a->besides.addresses);
    visit(13, &a->besides.bytes);
    visit(14, &a->details);
    visit(15, &a->details_at);
    visit(16, &a->name_bytes);
    visit(17, &a->name_ends);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_ARRAYS_H_
