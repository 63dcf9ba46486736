// The wire between the traced process and the collector: two pieces of shared
// memory, made by the launcher before the program starts. The tracer
// includes no header of the collector. The collector includes only the headers
// of tracer/wire. All fields have a fixed width, and the size of every stored
// struct is asserted.
//
//   reply   := ReplyPage        the collector writes, the traced process reads
//   region  := ControlPage ring side-ring (side_ring_layout.h)
//                               the traced process writes, the collector reads
//
// Each process maps the other one's piece read-only. The collector does not
// trust the region: the traced program may write anything there, and may have
// dropped privileges that the collector still has. So the collector reads each
// word once, checks its copy, and keeps no state of its own in the region.
//
//   ring    := RingSlots() slots of 16 bytes, used circularly
//   stream  := item*            contents of the ring, in order of event numbers
//   item    := state | definition | row | heap event
//   row     := one slot whose `what` is 0..4 (EventSlot)
//   heap event := one slot whose `what` is 6 or 7 (HeapSlot)
//   state   := one slot (kThread, kNumber, kRss, kClock, kStack, ...) that
//              changes the meaning of the rows after it
//   definition := a header slot (w1 = payload bytes) + ceil(w1 / 16) slots
//
// All threads share one event ring. Profile callbacks run under the GIL, so the
// thread that holds the GIL is the only producer, and the order in the ring is
// the order of event numbers. A row's thread is state, like its RSS: it takes a
// slot only when it changes.
//
// Commit protocol: the producer writes slots, then stores `head` with release.
// The collector loads `head` with acquire, copies the slots, then stores `tail`
// with release. The producer loads `tail` with acquire before it reuses a slot.
// `head` and `tail` count slots since the start and never wrap; the place of a
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
// Ring sizes of the first process. Forked children get small rings, because
// many end before they have used more. A process with a low file size limit
// gets small rings, too.
inline constexpr uint32_t kRingSlots = 1u << 18;  // 4 MiB
inline constexpr size_t kRingBytes = size_t{kRingSlots} * kRingSlotBytes;
inline constexpr size_t kSideRingOffset = kControlBytes + kRingBytes;
inline constexpr size_t kRegionBytes = kSideRingOffset + kSideRingBytes;

// Number of slots and cells. A small ring has 512 KiB, the smallest 256 KiB.
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
// Offset of the side ring in the region, and size of the region, in bytes.
inline size_t SideRingOffset(const ControlPage& page) {
  return kControlBytes + size_t{RingSlots(page)} * kRingSlotBytes;
}
inline size_t RegionBytes(const ControlPage& page) {
  return SideRingOffset(page) + SideCells(page) * kSideCellBytes;
}

// Compression level in the launch text: frames are stored uncompressed.
inline constexpr int32_t kNoCompression = -1000;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_RING_LAYOUT_H_
