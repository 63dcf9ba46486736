// The arrays that an object graph is: in memory, or in a mapped index.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_GRAPH_ARRAYS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_GRAPH_ARRAYS_H_

#include <algorithm>
#include <cstdint>

#include "readers/objects/graph/grown_array.h"

namespace pymemrun {

// A block that holds bytes of an object beside its own, as the items of a list.
struct BesideBlock {
  uint64_t address = 0;
  uint64_t bytes = 0;  // part of the object's size; 0: the dump tells of none
};

// One for some of the nodes, by rising node. Not thread safe.
struct BesideBlocks {
  void Add(uint32_t node, const BesideBlock& block) {
    nodes.push_back(node);
    addresses.push_back(block.address);
    bytes.push_back(block.bytes);
  }

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
  BesideBlock operator[](uint32_t i) const { return {addresses[i], bytes[i]}; }
  // Which of them is this node's; size(): none.
  uint32_t Find(uint32_t node) const {
    const uint32_t* const found =
        std::lower_bound(nodes.begin(), nodes.end(), node);
    return found != nodes.end() && *found == node
               ? static_cast<uint32_t>(found - nodes.begin())
               : size();
  }
  BesideBlock Of(uint32_t node) const {
    const uint32_t at = Find(node);
    return at < size() ? (*this)[at] : BesideBlock();
  }

  GrownArray<uint32_t> nodes;
  GrownArray<uint64_t> addresses, bytes;
};

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
  // Details of nodes, one behind the other (AppendNodeDetails), and where those
  // of each kDetailsStep-th node begin.
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

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_GRAPH_ARRAYS_H_
