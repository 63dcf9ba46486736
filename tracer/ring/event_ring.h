// Producer of the event ring: reserves slots, writes them, publishes them. The
// caller holds the GIL. Nothing here allocates. A system call is made only when
// the ring is full, or to wake the collector.
#ifndef PYMEMRUN_TRACER_RING_EVENT_RING_H_
#define PYMEMRUN_TRACER_RING_EVENT_RING_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tracer/base/hot_state.h"
#include "tracer/ring/ring_wait.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// A part of the payload of a definition.
struct Piece {
  const void* data;
  size_t bytes;
};

// Reserves `slots` slots from hot.head on, at most half of the ring. If the
// ring is full, waits for the collector, or not, as --on-full says. Returns
// false if there is no room: the caller then drops its event. Wakes the
// collector if there is much to read.
bool ReserveSlots(HotState& hot, uint32_t slots);

// Slot with this index. REQUIRES: it is reserved.
inline EventSlot& SlotAt(HotState& hot, uint64_t index) {
  return hot.ring[index & hot.ring_mask];
}

// Publishes all slots below `head`. Release: pairs with the acquire in
// RingReader::Look(), so the collector sees complete slots.
inline void Publish(HotState& hot, uint64_t head) {
  hot.head = head;
  hot.page->head.store(head, std::memory_order_release);
}

// Writes a state or definition slot.
inline void PutControl(HotState& hot, uint64_t index, ControlKind kind,
                       uint32_t w1, uint32_t w2, uint32_t w3) {
  SlotAt(hot, index) = EventSlot{
      (kControlWhat << kWhatShift) | static_cast<uint32_t>(kind), w1, w2, w3};
}

// Writes and publishes a definition or fact. Its payload is the concatenation
// of `pieces`, cut at a quarter of the ring. Returns false if there was no
// room.
bool PutPayload(HotState& hot, ControlKind kind, uint32_t id, uint32_t w3,
                const Piece* pieces, size_t count);

// A text in a payload, written as its length in bytes and its bytes.
struct PayloadText {
  uint32_t length;
  const char* bytes;
};

// The same for a payload that is a struct followed by at most five texts.
bool PutTexts(HotState& hot, ControlKind kind, uint32_t id, Piece head,
              std::initializer_list<PayloadText> texts);
template <typename Head>
bool PutStruct(HotState& hot, ControlKind kind, uint32_t id, const Head& head,
               std::initializer_list<PayloadText> texts = {}) {
  return PutTexts(hot, kind, id, {&head, sizeof(head)}, texts);
}

// Makes all ids of this kind void.
void PutForget(HotState& hot, ControlKind kind);

// Remembers that a wait for the collector timed out.
void NoteSilence(RingStall* stall, const ControlPage* page);
// Whether a wait timed out, and the heartbeat of the collector has not changed
// since.
bool IsSilent(const RingStall& stall, const ControlPage* page);

// Makes the next event take the slow path, by leaving no slots.
inline void ForceSlowPath(HotState& hot) { hot.limit = 0; }

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_EVENT_RING_H_
