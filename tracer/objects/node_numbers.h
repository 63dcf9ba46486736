// Numbers of nodes in an object dump, in the order in which objects are
// reached. The list of numbers is also the queue of objects whose references
// must still be followed.
#ifndef PYMEMRUN_TRACER_OBJECTS_NODE_NUMBERS_H_
#define PYMEMRUN_TRACER_OBJECTS_NODE_NUMBERS_H_

#include <cstddef>
#include <cstdint>

#include "tracer/objects/child_memory.h"

namespace pymemrun {

// A set of keys with numbers. Keys are addresses; the lowest three bits mark
// nodes that are not objects. For the one thread of the child that dumps. Takes
// 8 bytes per key, and 16 to 32 bytes of slots.
class NodeNumbers {
 public:
  static constexpr uint32_t kMost = uint32_t{1} << 31;

  // Returns the number of the node with this key, or gives it the next number.
  // Node 0 is never found again by its key. Does not return if there are too
  // many nodes or no memory (g_child_out_of_memory).
  uint32_t Number(uint64_t key) {
    if (__builtin_expect(2 * keys_.size() >= mask_, 0)) Grow();
    const uint64_t hash = PointerMap::HashOf(key);
    const uint64_t tag = hash & kTagMask;
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const uint64_t slot = slots_[at];
      if (slot == 0) {
        const uint32_t number = static_cast<uint32_t>(keys_.size());
        slots_[at] = tag | number;
        keys_.Push(key);
        return number;
      }
      if ((slot & kTagMask) == tag &&
          keys_[static_cast<uint32_t>(slot)] == key) {
        return static_cast<uint32_t>(slot);
      }
    }
  }
  // Whether the key has a number.
  bool Has(uint64_t key) const {
    if (slots_ == nullptr) return false;
    const uint64_t hash = PointerMap::HashOf(key);
    for (size_t at = hash & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
      if (keys_[static_cast<uint32_t>(slots_[at])] == key) return true;
    }
    return false;
  }
  // Prefetches the slot of the key.
  void Prefetch(uint64_t key) const {
    __builtin_prefetch(&slots_[PointerMap::HashOf(key) & mask_]);
  }
  uint64_t key(uint32_t number) const { return keys_[number]; }
  uint32_t count() const { return static_cast<uint32_t>(keys_.size()); }

 private:
  // A slot has the upper half of the hash and the number of the node; 0: empty.
  // Most mismatches are seen in the upper half, without a look at the key.
  static constexpr uint64_t kTagMask = 0xffffffff00000000u;

  void Grow();

  ChildArray<uint64_t> keys_;
  uint64_t* slots_ = nullptr;
  size_t mask_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_NODE_NUMBERS_H_
