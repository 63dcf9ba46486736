// Blocks that hold bytes of objects beside their own, as the items of lists.
#ifndef PYMEMRUN_READERS_OBJECTS_BESIDE_BLOCKS_H_
#define PYMEMRUN_READERS_OBJECTS_BESIDE_BLOCKS_H_

#include <cstdint>

#include "readers/columns/number_column.h"
#include "readers/objects/stored_graph.h"

namespace pymemrun {

struct BesideBlock {
  uint64_t address = 0;
  uint64_t bytes = 0;  // part of the object's size; 0: the dump tells of none
};

// One for some of the nodes, by rising node. Not thread safe.
class BesideBlocks {
 public:
  // From now on they are these, which must outlive it.
  void Use(const StoredGraph& stored) {
    nodes_.Use(&stored.beside_nodes);
    addresses_.Use(&stored.besides);
    bytes_.Use(&stored.beside_bytes);
  }
  void Add(uint32_t node, const BesideBlock& block) {
    nodes_.own().push_back(node);
    addresses_.own().push_back(block.address);
    bytes_.own().push_back(block.bytes);
  }

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  uint32_t node(uint32_t i) const { return nodes_[i]; }
  BesideBlock operator[](uint32_t i) const {
    return {addresses_[i], bytes_[i]};
  }
  // Which of them is this node's; size(): none.
  uint32_t Find(uint32_t node) const {
    uint32_t at = 0, end = size();
    while (at < end) {
      const uint32_t middle = at + (end - at) / 2;
      if (nodes_[middle] < node) {
        at = middle + 1;
      } else {
        end = middle;
      }
    }
    return at < size() && nodes_[at] == node ? at : size();
  }
  BesideBlock Of(uint32_t node) const {
    const uint32_t at = Find(node);
    return at < size() ? (*this)[at] : BesideBlock();
  }

 private:
  NumberColumn<uint32_t> nodes_;
  NumberColumn<uint64_t> addresses_, bytes_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BESIDE_BLOCKS_H_
