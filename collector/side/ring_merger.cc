#include "collector/side/ring_merger.h"

#include <iterator>

#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

// Threads that come to wait out of order do so by this many places.
constexpr int kMaxPlacesBack = 64;

}  // namespace

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

// Up to index `end`, which was once the head, and so at most a ring's worth:
// the rest of the loop gets its turn.
size_t RingMerger::DrainSlots(uint64_t end) {
  // What was passed over, and what the side ring said of slots before it.
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
