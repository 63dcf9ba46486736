#include "tracer/objects/reference_list.h"

#include <string.h>

namespace pymemrun {

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
