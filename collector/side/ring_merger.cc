#include "collector/side/ring_merger.h"

#include <iterator>

#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

// Bounds the search of Add(): threads reserve their items out of order by a few
// places.
constexpr int kMaxPlacesBack = 64;

}  // namespace

// The order of the steps matters, see the header: the head is read before the
// side ring, so every item that precedes a slot below it is seen.
size_t RingMerger::Drain(bool last) {
  if (events_ == nullptr) return DrainSlots(ring_->Look());
  // Behind an item that is begun and not committed may be some that come before
  // slots which are there already: those slots wait too. The time comes before
  // the look: slots that are not seen are later.
  const uint64_t now_ns = MonotonicNs();
  const uint64_t head = ring_->Look();
  if (head == ring_->tail()) events_->NoSlotsBefore(now_ns);
  const size_t cells = side_->Drain(now_ns, false);
  if (last || !merges_ || side_->drained()) merged_up_to_ = head;
  const size_t slots = DrainSlots(merged_up_to_);
  events_->EndRound(ring_->tail(), now_ns);
  return cells + slots;
}

// Takes slots up to index `end`, an earlier head. So that is a ring's worth at
// most, and the other sources get their turn.
size_t RingMerger::DrainSlots(uint64_t end) {
  // The ring was overwritten and slots were skipped, or this is the first
  // round.
  if (slots_->next_index() != ring_->tail()) slots_->SkipTo(ring_->tail());
  size_t drained = 0;
  while (end - ring_->tail() - 1 < kRingSlots) {
    const RingReader::Span span = ring_->Take(end);
    slots_->Consume(span.slots, span.count);
    drained += span.count;
  }
  ring_->WakeProducer();
  return drained;
}

void RingMerger::Add(const WaitingEvent& event) {
  if (!merges_) return waiting_.push_back(event);
  // Two threads may have reserved their items in another order than they looked
  // at the event ring.
  auto at = waiting_.end();
  for (int i = 0; i < kMaxPlacesBack && at != waiting_.begin() &&
                  std::prev(at)->index > event.index;
       ++i) {
    --at;
  }
  waiting_.insert(at, event);
  first_index_ = waiting_.front().index;
}

WaitingEvent RingMerger::TakeFirst() {
  const WaitingEvent first = waiting_.front();
  waiting_.pop_front();
  if (merges_) {
    first_index_ = waiting_.empty() ? kNoSlot : waiting_.front().index;
  }
  return first;
}

}  // namespace pymemrun
