// Which node an object is: numbers in the order in which objects are reached,
// and the queue of those whose references are still to be followed, which is
// the same.
#ifndef PYMEMRUN_TRACER_OBJECTS_NODE_NUMBERS_H_
#define PYMEMRUN_TRACER_OBJECTS_NODE_NUMBERS_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython/objects/object_graph.h"
#include "tracer/objects/child_memory.h"

namespace pymemrun {

// Keys are addresses; the lowest three bits tell of nodes that are no objects.
class NodeNumbers {
 public:
  static constexpr uint32_t kMost = uint32_t{1} << 31;

  // The number of the key's node, a new one if it has none. Node 0, the first,
  // is not found again. Does not return where there are too many.
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
  bool Has(uint64_t key) const {
    if (slots_ == nullptr) return false;
    const uint64_t hash = PointerMap::HashOf(key);
    for (size_t at = hash & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
      if (keys_[static_cast<uint32_t>(slots_[at])] == key) return true;
    }
    return false;
  }
  // Brings the place of the key's number near.
  void Prefetch(uint64_t key) const {
    __builtin_prefetch(&slots_[PointerMap::HashOf(key) & mask_]);
  }
  uint64_t key(uint32_t number) const { return keys_[number]; }
  uint32_t count() const { return static_cast<uint32_t>(keys_.size()); }

 private:
  // A slot has the upper half of the hash, and the number.
  static constexpr uint64_t kTagMask = 0xffffffff00000000u;

  void Grow();

  ChildArray<uint64_t> keys_;
  uint64_t* slots_ = nullptr;
  size_t mask_ = 0;
};

// The references of one object: what tp_traverse visits, and what has a name.
// Together they say which reference is called what.

class ReferenceList {
 public:
  void Clear();
  void AddVisited(PyObject* target) { visited_.Push(target); }
  void AddNamed(const PymemrunEdge& edge) { named_.Push(edge); }
  // Calls take(edge) with each reference once: those that have a name in the
  // order in which they came, if they were visited or always are references;
  // then those that were visited and have none. In linear time.
  template <typename Take>
  void ForEach(Take take) {
    Count();
    for (size_t i = 0; i < named_.size(); ++i) {
      const bool was_visited = TakeOne(named_[i].target);
      if (was_visited || named_[i].always != 0) take(named_[i]);
    }
    for (size_t i = 0; i < visited_.size(); ++i) {
      if (!TakeOne(visited_[i])) continue;
      take(PymemrunEdge{visited_[i], kPymemrunOther, 1, nullptr, nullptr});
    }
  }

 private:
  struct Slot {
    PyObject* target;  // null: none
    uint64_t count;    // how often it was visited and not yet taken
  };
  void Count();
  bool TakeOne(PyObject* target);
  size_t PlaceOf(PyObject* target) const;

  ChildArray<PyObject*> visited_;
  ChildArray<PymemrunEdge> named_;
  Slot* slots_ = nullptr;
  size_t room_ = 0;  // slots
  size_t mask_ = 0;  // of those that are used for this object
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_NODE_NUMBERS_H_
