// The wire between the traced process and the collector: two pieces of shared
// memory, made by the launcher before the program starts. Both sides include
// this header and nothing else of each other. Everything is fixed width; every
// stored struct has its size asserted.
//
//   reply   := ReplyPage        the collector writes, the traced process reads
//   region  := ControlPage ring side-ring (side_ring_layout.h)
//                               the traced process writes, the collector reads
//
// Each side maps the other's piece for reading only. The traced program may
// write anything into the region: it can have dropped privileges that the
// collector still has. So the collector reads each word once, checks its copy,
// and keeps nothing there that it needs itself.
//
//   ring    := RingSlots() slots of 16 bytes, used circularly
//   stream  := item*            what the ring carries, in event-number order
//   item    := state | definition | row | heap event
//   row     := one slot whose `what` is 0..4 (EventSlot)
//   heap event := one slot whose `what` is 6 or 7 (HeapSlot)
//   state   := one slot (kThread, kNumber, kRss, kClock, kStack, ...) that
//              changes what the following rows mean
//   definition := a header slot (w1 = payload bytes) + ceil(w1 / 16) slots
//
// There is one ring for the events of all threads: a profile callback runs
// under the GIL, so the GIL holder is the single producer, and the order in
// the ring is the order of the event numbers. The thread a row belongs to is
// state, like its RSS: it costs a slot only where it changes.
//
// Indices `head` and `tail` count slots since the start and never wrap; the
// slot is index & (RingSlots() - 1).
#ifndef PYMEMRUN_TRACER_WIRE_RING_LAYOUT_H_
#define PYMEMRUN_TRACER_WIRE_RING_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include "tracer/wire/control_page.h"
#include "tracer/wire/gauge_source.h"
#include "tracer/wire/reply_page.h"
#include "tracer/wire/ring_payloads.h"
#include "tracer/wire/ring_slots.h"
#include "tracer/wire/side_ring_layout.h"

namespace pymemrun {

inline constexpr uint64_t kRingMagic = 0x31676e69526d6d50;  // "PmmRing1"
inline constexpr uint32_t kWireVersion = 11;
// The first process's. A forked child's rings are small, because many children
// end before they have used more; and where files may not be as large.
inline constexpr uint32_t kRingSlots = 1u << 18;  // 4 MiB
inline constexpr size_t kRingBytes = size_t{kRingSlots} * kRingSlotBytes;
inline constexpr size_t kSideRingOffset = kControlBytes + kRingBytes;
inline constexpr size_t kRegionBytes = kSideRingOffset + kSideRingBytes;

// How large the rings are: small ones have 512 KiB each, the smallest 256.
inline uint32_t RingSlots(const ControlPage& page) {
  const RingSizes sizes = page.rings;
  if (sizes == RingSizes::kWhole) return kRingSlots;
  return sizes == RingSizes::kSmall ? kRingSlots / 8 : kRingSlots / 16;
}
inline uint32_t SideCells(const ControlPage& page) {
  const RingSizes sizes = page.rings;
  if (sizes == RingSizes::kWhole) return kSideCells;
  return sizes == RingSizes::kSmall ? kSideCells / 4 : kSideCells / 8;
}
// Where the side ring begins, and how large the region is.
inline size_t SideRingOffset(const ControlPage& page) {
  return kControlBytes + size_t{RingSlots(page)} * kRingSlotBytes;
}
inline size_t RegionBytes(const ControlPage& page) {
  return SideRingOffset(page) + SideCells(page) * kSideCellBytes;
}

inline constexpr int32_t kNoCompression = -1000;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_RING_LAYOUT_H_
