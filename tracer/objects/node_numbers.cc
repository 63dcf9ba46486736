#include "tracer/objects/node_numbers.h"

#include <string.h>

namespace pymemrun {

// Open addressing with linear probing, at most half full, so a probe ends soon.
// The table doubles, thus each key is moved a constant number of times on
// average. The old slots are unmapped first: keys_ alone is enough to fill the
// new ones, and the child must not use more memory than needed.
void NodeNumbers::Grow() {
  constexpr size_t kFirstSlots = size_t{1} << 17;
  if (keys_.size() >= kMost) g_child_out_of_memory();
  const size_t slots = slots_ == nullptr ? 0 : mask_ + 1;
  const size_t more = slots == 0 ? kFirstSlots : 2 * slots;
  if (slots != 0) UnmapChildMemory(slots_, slots * sizeof(uint64_t));
  slots_ = static_cast<uint64_t*>(MapChildMemory(more * sizeof(uint64_t)));
  mask_ = more - 1;
  // Node 0 is left out: a slot with number 0 and tag 0 would be an empty one.
  // Slots are visited in random order, so each one is prefetched some steps
  // ahead.
  constexpr size_t kAhead = 16;
  for (size_t i = 1; i < keys_.size(); ++i) {
    if (i + kAhead < keys_.size()) Prefetch(keys_[i + kAhead]);
    const uint64_t hash = PointerMap::HashOf(keys_[i]);
    size_t at = hash & mask_;
    while (slots_[at] != 0) at = (at + 1) & mask_;
    slots_[at] = (hash & kTagMask) | i;
  }
}

void ReferenceList::Clear() {
  visited_.Clear();
  named_.Clear();
}

// Returns the slot of the target, or the empty slot where it belongs.
size_t ReferenceList::PlaceOf(PyObject* target) const {
  size_t at = PointerMap::HashOf(reinterpret_cast<uint64_t>(target)) & mask_;
  while (slots_[at].target != nullptr && slots_[at].target != target) {
    at = (at + 1) & mask_;
  }
  return at;
}

// Counts how often tp_traverse visited each target. An object may refer to the
// same target several times, for instance a list [a, a]. So names are matched
// by number: each named reference takes one visit away, and the visits left
// over have no name.
//
// The slots are kept for the next object, but only as many are cleared and used
// as this object needs. Otherwise one large list would make all later objects
// slow.
void ReferenceList::Count() {
  size_t slots = 16;
  while (slots < 2 * visited_.size()) slots *= 2;
  if (slots > room_) {
    if (room_ != 0) UnmapChildMemory(slots_, room_ * sizeof(Slot));
    room_ = slots < 4096 ? 4096 : slots;
    slots_ = static_cast<Slot*>(MapChildMemory(room_ * sizeof(Slot)));
  }
  mask_ = slots - 1;
  memset(slots_, 0, slots * sizeof(Slot));
  for (size_t i = 0; i < visited_.size(); ++i) {
    Slot& slot = slots_[PlaceOf(visited_[i])];
    slot.target = visited_[i];
    ++slot.count;
  }
}

// Takes away one visit of the target. Returns false if none is left.
bool ReferenceList::TakeOne(PyObject* target) {
  Slot& slot = slots_[PlaceOf(target)];
  if (slot.target == nullptr || slot.count == 0) return false;
  --slot.count;
  return true;
}

}  // namespace pymemrun
