#include "tracer/objects/node_numbers.h"

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

}  // namespace pymemrun
