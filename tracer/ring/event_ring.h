// The producer's half of the ring: reserve slots, write them, publish. Used by
// whoever holds the GIL; nothing here allocates, and only a full ring makes a
// system call.
#ifndef PYMEMRUN_TRACER_RING_EVENT_RING_H_
#define PYMEMRUN_TRACER_RING_EVENT_RING_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tracer/base/hot_state.h"
#include "tracer/ring/ring_wait.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// One piece of a definition's payload.
struct Piece {
  const void* data;
  size_t bytes;
};

// Makes room for `slots` (<= half the ring's) slots from hot.head on. When the
// ring is full, waits for the collector as the policy says. Returns false when
// there is no room: the caller drops what it has. Wakes the collector when
// there is much for it to do.
bool ReserveSlots(HotState& hot, uint32_t slots);

inline EventSlot& SlotAt(HotState& hot, uint64_t index) {
  return hot.ring[index & hot.ring_mask];
}

// Makes everything up to `head` the collector's. Pairs with its acquire.
inline void Publish(HotState& hot, uint64_t head) {
  hot.head = head;
  hot.page->head.store(head, std::memory_order_release);
}

inline void PutControl(HotState& hot, uint64_t index, ControlKind kind,
                       uint32_t w1, uint32_t w2, uint32_t w3) {
  SlotAt(hot, index) = EventSlot{
      (kControlWhat << kWhatShift) | static_cast<uint32_t>(kind), w1, w2, w3};
}

// Writes and publishes a definition or fact; the payload is the pieces one
// after another. Payloads beyond a quarter of the ring are cut. Returns false
// when there was no room.
bool PutPayload(HotState& hot, ControlKind kind, uint32_t id, uint32_t w3,
                const Piece* pieces, size_t count);

// A text in a payload: its length, then its bytes.
struct PayloadText {
  uint32_t length;
  const char* bytes;
};

// The same of a payload that is a struct, and behind it at most five texts.
bool PutTexts(HotState& hot, ControlKind kind, uint32_t id, Piece head,
              std::initializer_list<PayloadText> texts);
template <typename Head>
bool PutStruct(HotState& hot, ControlKind kind, uint32_t id, const Head& head,
               std::initializer_list<PayloadText> texts = {}) {
  return PutTexts(hot, kind, id, {&head, sizeof(head)}, texts);
}

// All ids of the kind are void from here on.
void PutForget(HotState& hot, ControlKind kind);

// Keeps that a wait for the collector has timed out.
void NoteSilence(RingStall* stall, const ControlPage* page);
// Whether one has, and the collector has shown no sign of life since.
bool IsSilent(const RingStall& stall, const ControlPage* page);

// Forces the next event onto the slow path.
inline void ForceSlowPath(HotState& hot) { hot.limit = 0; }

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_EVENT_RING_H_
