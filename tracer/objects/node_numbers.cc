#include "tracer/objects/node_numbers.h"

#include <string.h>

namespace pymemrun {

void NodeNumbers::Grow() {
  constexpr size_t kFirstSlots = size_t{1} << 17;
  if (keys_.size() >= kMost) g_child_out_of_memory();
  const size_t slots = slots_ == nullptr ? 0 : mask_ + 1;
  const size_t more = slots == 0 ? kFirstSlots : 2 * slots;
  if (slots != 0) UnmapChildMemory(slots_, slots * sizeof(uint64_t));
  slots_ = static_cast<uint64_t*>(MapChildMemory(more * sizeof(uint64_t)));
  mask_ = more - 1;
  // Node 0 is not among them: its slot would be an empty one.
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
