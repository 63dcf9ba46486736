// Merges the two rings into one order: the order in which the traced process
// wrote to them.
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
  uint64_t index;  // slot of the event ring that it precedes
  uint64_t time_ns;
  uint32_t native_thread;
  SideKind kind;
  HeapEvent event;
};

// A block may be allocated by an event of one ring and freed by the other one,
// and its address reused. So an item of the side ring names the slot of the
// event ring that it precedes, see HeapSlot. A round has four steps:
//   1. read the head of the event ring;
//   2. drain the side ring; its heap events wait;
//   3. drain the event ring up to that head; before each heap slot emit the
//      waiting events that precede it;
//   4. emit the waiting events that precede no slot beyond that head.
// If the event ring has no heap events (sampled), an event waits only until its
// thread has a name, and only for a short time.
//
// CollectorProcess owns one. All pointers must outlive it. Not thread-safe.
class RingMerger {
 public:
  static constexpr uint64_t kNoSlot = ~uint64_t{0};

  // Takes slots of the event ring.
  class SlotTaker {
   public:
    virtual ~SlotTaker() = default;
    // Takes slots. They are private copies.
    virtual void Consume(const EventSlot* slots, size_t count) = 0;
    // Slots below `index` are lost: the next slot does not continue the
    // previous ones.
    virtual void SkipTo(uint64_t index) = 0;
    // Ring index of the next slot.
    virtual uint64_t next_index() const = 0;
  };
  // Takes waiting events in their places.
  class EventTaker {
   public:
    virtual ~EventTaker() = default;
    // The event ring was empty at `now_ns`: later slots are not older, though
    // only some state their time.
    virtual void NoSlotsBefore(uint64_t now_ns) = 0;
    // Slots of the event ring below `index` were taken; without merging, all
    // that were there at `looked_ns`.
    virtual void EndRound(uint64_t index, uint64_t looked_ns) = 0;
  };

  RingMerger(RingReader* ring, SlotTaker* slots) : ring_(ring), slots_(slots) {}
  // There are heap events, some of them in the side ring. `merges`: some are in
  // the event ring, too. Without this call Drain() only drains the event ring.
  void set_events(SideItems* side, EventTaker* events, bool merges) {
    side_ = side;
    events_ = events;
    merges_ = merges;
  }
  bool merges() const { return merges_; }

  // Runs one round. Returns the number of slots and cells taken. `last`: no
  // more will be written.
  size_t Drain(bool last);

  // Adds an event, after those that wait for the same slot or an earlier one.
  void Add(const WaitingEvent& event);
  size_t waiting() const { return waiting_.size(); }
  // Slot that the first waiting event precedes; kNoSlot if no event waits for a
  // slot.
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
  // All side events before this slot of the event ring are known.
  uint64_t merged_up_to_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SIDE_RING_MERGER_H_
