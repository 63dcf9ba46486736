#include "tracer/ring/event_ring.h"

#include <string.h>

namespace pymemrun {
namespace {

// The commit protocol is in ring_layout.h. The producer keeps its own copy of
// the head in hot.head and publishes it with Publish(). hot.limit is the fast
// path's bound: slots in [hot.head, hot.limit) may be written without any check
// here. It is set so low that ReserveSlots() runs again in time to wake the
// collector.
//
// Prints one line, the first time that events are dropped.
void SayOnce(RingStall* stall, bool gone) {
  if (stall->said) return;
  stall->said = true;
  static constexpr char kGone[] =
      "pymemrun: the collector is gone; the program continues, its events are "
      "counted and dropped\n";
  static constexpr char kSlow[] =
      "pymemrun: the collector has not made room for 2 s; the program "
      "continues, events are counted and dropped until there is room\n";
  if (stall->say == nullptr) return;
  if (gone) {
    stall->say(kGone, sizeof(kGone) - 1);
  } else {
    stall->say(kSlow, sizeof(kSlow) - 1);
  }
}

RingRoom RoomOf(const ControlPage* page) {
  return {&ReplyOf(page).tail, RingSlots(*page)};
}

// Waits until the ring has room up to index `end`, or gives up after 2 s or
// without a collector. After giving up, hot.stall.gave_up makes later calls
// drop at once, until there is room again: a stuck collector costs the program
// 2 s once, not 2 s per event.
[[gnu::noinline, gnu::cold]] bool WaitForSlots(HotState& hot, uint64_t end) {
  ControlPage* page = hot.page;
  page->stalls.fetch_add(1, std::memory_order_relaxed);
  const RingWait outcome = WaitForRoom(page, RoomOf(page), end);
  if (outcome == RingWait::kRoom) return true;
  hot.stall.gave_up = true;
  NoteSilence(&hot.stall, page);
  SayOnce(&hot.stall, outcome == RingWait::kCollectorGone);
  return false;
}

size_t RingBytes(const HotState& hot) {
  return (size_t{hot.ring_mask} + 1) * kRingSlotBytes;
}

// Copies bytes into the ring, in two parts if they cross its end. Payloads use
// whole slots, so `byte` counts bytes as head counts slots.
void CopyIn(HotState& hot, uint64_t byte, const void* data, size_t size) {
  char* ring = reinterpret_cast<char*>(hot.ring);
  const size_t ring_bytes = RingBytes(hot);
  const size_t at = byte & (ring_bytes - 1);
  const size_t first = size < ring_bytes - at ? size : ring_bytes - at;
  memcpy(ring + at, data, first);
  memcpy(ring, static_cast<const char*>(data) + first, size - first);
}

}  // namespace

void NoteSilence(RingStall* stall, const ControlPage* page) {
  stall->was_silent = true;
  stall->beat = ReplyOf(page).heartbeat.load(std::memory_order_relaxed);
}

bool IsSilent(const RingStall& stall, const ControlPage* page) {
  return stall.was_silent &&
         stall.beat == ReplyOf(page).heartbeat.load(std::memory_order_relaxed);
}

bool ReserveSlots(HotState& hot, uint32_t slots) {
  const uint64_t end = hot.head + slots;
  ControlPage* page = hot.page;
  const RingRoom room = RoomOf(page);
  // Wakes the collector when it has a quarter of the ring to read. A wake is a
  // system call, so fewer are cheaper; a full ring stalls the program.
  const uint64_t wake_slots = room.size / 4;
  uint64_t free_to = room.FreeUpTo();
  if (end > free_to) {
    if (page->on_full == OnFull::kDrop || hot.stall.gave_up ||
        !WaitForSlots(hot, end)) {
      hot.limit = 0;
      return false;
    }
    free_to = room.FreeUpTo();
  }
  hot.stall.gave_up = false;
  // free_to - size is `tail` as the collector last stored it.
  const uint64_t tail = free_to - room.size;
  if (end - tail >= wake_slots) WakeCollector(page);
  // The fast path must come back here after an eighth of the ring at the
  // latest, or at the end of the free slots.
  const uint64_t next_stop = end + wake_slots / 2;
  hot.limit = next_stop < free_to ? next_stop : free_to;
  return true;
}

bool PutPayload(HotState& hot, ControlKind kind, uint32_t id, uint32_t w3,
                const Piece* pieces, size_t count) {
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) total += pieces[i].bytes;
  const size_t most = RingBytes(hot) / 4;
  if (total > most) total = most;
  // A payload takes one header slot and its bytes in whole slots, for each
  // chunk of at most kMaxChunkBytes. `slots` is an upper bound, as the last
  // slot of each chunk may be partly used. All chunks are reserved together and
  // published at once, so the collector never sees a part of a definition.
  const size_t chunks =
      total == 0 ? 1 : (total + kMaxChunkBytes - 1) / kMaxChunkBytes;
  const size_t slots =
      chunks + (total + kRingSlotBytes - 1) / kRingSlotBytes + chunks;
  if (!ReserveSlots(hot, static_cast<uint32_t>(slots))) return false;
  uint64_t index = hot.head;
  size_t piece = 0, at = 0, left = total;
  do {
    const size_t bytes = left < kMaxChunkBytes ? left : kMaxChunkBytes;
    left -= bytes;
    PutControl(hot, index, left == 0 ? kind : ControlKind::kChunk,
               static_cast<uint32_t>(bytes), id, w3);
    uint64_t byte = (index + 1) * kRingSlotBytes;
    for (size_t todo = bytes; todo > 0;) {
      const size_t rest = pieces[piece].bytes - at;
      const size_t n = rest < todo ? rest : todo;
      CopyIn(hot, byte, static_cast<const char*>(pieces[piece].data) + at, n);
      byte += n;
      todo -= n;
      at += n;
      if (at == pieces[piece].bytes) {
        ++piece;
        at = 0;
      }
    }
    index += 1 + (bytes + kRingSlotBytes - 1) / kRingSlotBytes;
  } while (left > 0);
  Publish(hot, index);
  return true;
}

// Each text is two pieces: its length, and its bytes.
bool PutTexts(HotState& hot, ControlKind kind, uint32_t id, Piece head,
              std::initializer_list<PayloadText> texts) {
  Piece pieces[11] = {head};
  size_t count = 1;
  for (const PayloadText& text : texts) {
    pieces[count++] = {&text.length, sizeof(text.length)};
    pieces[count++] = {text.bytes, text.length};
  }
  return PutPayload(hot, kind, id, 0, pieces, count);
}

void PutForget(HotState& hot, ControlKind kind) {
  PutPayload(hot, ControlKind::kForget, 0, static_cast<uint32_t>(kind), nullptr,
             0);
}

}  // namespace pymemrun
