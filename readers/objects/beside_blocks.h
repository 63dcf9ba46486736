// Blocks that hold bytes of objects beside their own, as the items of lists.
#ifndef PYMEMRUN_READERS_OBJECTS_BESIDE_BLOCKS_H_
#define PYMEMRUN_READERS_OBJECTS_BESIDE_BLOCKS_H_

#include <algorithm>
#include <cstdint>

#include "readers/objects/grown_array.h"

namespace pymemrun {

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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BESIDE_BLOCKS_H_
