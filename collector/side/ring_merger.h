// The order of the two rings: what the traced process wrote to both, one after
// the other.
#ifndef PYMEMRUN_COLLECTOR_SIDE_RING_MERGER_H_
#define PYMEMRUN_COLLECTOR_SIDE_RING_MERGER_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "collector/ring/ring_reader.h"
#include "collector/side/side_items.h"
#include "format/batches/heap_event.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// A heap event of the side ring that waits for its place.
struct WaitingEvent {
  uint64_t index;  // of the slot that it comes before
  uint64_t time_ns;
  uint32_t native_thread;
  SideKind kind;
  HeapEvent event;
};

// A block may be allocated by one ring and freed by the other, and its address
// given out anew. So an item of the side ring says which slot of the event ring
// it comes before, see HeapSlot; and a round of both is this:
//   1. the event ring's head is taken;
//   2. the side ring is emptied, and its heap events wait;
//   3. the event ring is emptied up to that head; before each heap slot come
//      those waiting that are to;
//   4. those follow that wait for no slot beyond that head.
// Where the event ring has no heap events (sampled), an event waits only until
// its thread has its name, and not for long.
//
// CollectorProcess owns one. Not thread safe. All pointers must outlive it.
class RingMerger {
 public:
  static constexpr uint64_t kNoSlot = ~uint64_t{0};

  // Takes the event ring's slots.
  class SlotTaker {
   public:
    virtual ~SlotTaker() = default;
    // The slots are the caller's alone: nobody writes over them meanwhile.
    virtual void Consume(const EventSlot* slots, size_t count) = 0;
    // The slots below `index` are not to be had: what comes next is no part of
    // what came before.
    virtual void SkipTo(uint64_t index) = 0;
    // Index in the ring of the slot that comes next.
    virtual uint64_t next_index() const = 0;
  };
  // Takes the events that wait, in their places.
  class EventTaker {
   public:
    virtual ~EventTaker() = default;
    // The event ring was empty then: what comes is not older, though its time
    // is stated with some slots only.
    virtual void NoSlotsBefore(uint64_t now_ns) = 0;
    // The event ring's slots below `index` are taken; without merging all that
    // were there at `looked_ns`.
    virtual void EndRound(uint64_t index, uint64_t looked_ns) = 0;
  };

  RingMerger(RingReader* ring, SlotTaker* slots) : ring_(ring), slots_(slots) {}
  // There are heap events, some of them on the side ring. `merges`: the event
  // ring has some, too. Without, Drain() empties the event ring alone.
  void set_events(SideItems* side, EventTaker* events, bool merges) {
    side_ = side;
    events_ = events;
    merges_ = merges;
  }
  bool merges() const { return merges_; }

  // One round; returns how many slots and cells there were. `last`: nobody
  // writes any more.
  size_t Drain(bool last);

  // Puts the event behind those that wait for the same slot or an earlier one.
  void Add(const WaitingEvent& event);
  size_t waiting() const { return waiting_.size(); }
  // The slot that the first one comes before; kNoSlot: none waits for a slot.
  uint64_t first_index() const { return first_index_; }
  // REQUIRES: waiting() is not 0.
  const WaitingEvent& first() const { return waiting_.front(); }
  WaitingEvent TakeFirst();

 private:
  size_t DrainSlots(uint64_t end);

  RingReader* const ring_;
  SlotTaker* const slots_;
  SideItems* side_ = nullptr;
  EventTaker* events_ = nullptr;
  bool merges_ = false;
  std::deque<WaitingEvent> waiting_;
  uint64_t first_index_ = kNoSlot;
  // What the side ring says of the event ring's slots below is all known.
  uint64_t merged_up_to_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SIDE_RING_MERGER_H_
