#include "tracer/objects/reference_list.h"

#include <string.h>

namespace pymemrun {

void ReferenceList::Clear() {
  visited_.Clear();
  named_.Clear();
}

size_t ReferenceList::PlaceOf(PyObject* target) const {
  size_t at = PointerMap::HashOf(reinterpret_cast<uint64_t>(target)) & mask_;
  while (slots_[at].target != nullptr && slots_[at].target != target) {
    at = (at + 1) & mask_;
  }
  return at;
}

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

bool ReferenceList::TakeOne(PyObject* target) {
  Slot& slot = slots_[PlaceOf(target)];
  if (slot.target == nullptr || slot.count == 0) return false;
  --slot.count;
  return true;
}

}  // namespace pymemrun
