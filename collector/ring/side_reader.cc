#include "collector/ring/side_reader.h"

#include <cstring>

#include "collector/ring/ring_reader.h"

namespace pymemrun {
namespace {

constexpr uint64_t kSecond = 1000000000;
constexpr uint64_t kPatienceNs = 2 * kSecond;
// Limit of the wait for an item whose thread lives.
constexpr uint64_t kLongestPatienceNs = 60 * kSecond;
// No item of the tracer has more cells.
constexpr uint32_t kMaxItemCells =
    2 + static_cast<uint32_t>(kMaxSideDefinition / kSidePayloadBytes);
// Size of the payload that this head needs, in bytes. The kinds come from the
// table of side_kinds.h.
uint64_t PayloadBytes(const SideAny& head) {
  const size_t frames = HasStack(head.kind) ? head.frames() : 0;
  switch (head.kind) {
#define PYMEMRUN_BYTES(kind, number, Head, party, stack) \
  case SideKind::kind:                                   \
    return SideFrameBytes(frames) + head.As<Head>().behind();
    PYMEMRUN_SIDE_KINDS(PYMEMRUN_BYTES)
#undef PYMEMRUN_BYTES
    case SideKind::kContinued:
      break;
  }
  return 0;
}

}  // namespace

// Copies all of the head except for `sequence`, which is read as an atomic.
SideAny SideReader::HeadOf(uint64_t index) const {
  SideAny head;
  std::memcpy(&head.kind, Cell(index).payload, kSidePayloadBytes);
  return head;
}

bool SideReader::IsCommitted(uint64_t index) const {
  // Acquire: pairs with the producer's release, so the cell is whole.
  return Cell(index).sequence.load(std::memory_order_acquire) == index + 1;
}

// Whether the head is marked as begun: its kind and thread are valid.
bool SideReader::IsBegun(uint64_t index) const {
  return Cell(index).sequence.load(std::memory_order_acquire) ==
         ((index + 1) | kSideBegun);
}

// Whether the thread of the uncommitted item at the tail lives.
bool SideReader::HolderLives() const {
  return IsBegun(tail_) && lives_(HeadOf(tail_).thread);
}

void SideReader::CountLost(SideKind kind) {
  ++lost_[static_cast<uint32_t>(PartyOf(kind))];
}

// Whether the committed cell at `index` looks like a head. Asked only behind a
// missing item. A continued cell that passes all tests by chance is unlikely.
bool SideReader::IsHead(uint64_t index, uint64_t end) const {
  const SideAny head = HeadOf(index);
  if (head.kind < SideKind::kTouch || head.kind > kLastSideKind) {
    return false;
  }
  if ((head.flags & ~kAllSideFlags) != 0) return false;
  if (head.cells == 0 || head.cells > end - index) return false;
  const uint64_t payload = PayloadBytes(head);
  return payload <= kMaxSideDefinition &&
         head.cells ==
             1 + (payload + kSidePayloadBytes - 1) / kSidePayloadBytes;
}

// Whether the item at the tail is committed in all its cells. If so, copies its
// head to head_. An item with a nonsensical size is taken cell by cell.
bool SideReader::Fetch(uint64_t end) {
  if (!IsCommitted(tail_)) return false;
  head_ = HeadOf(tail_);
  head_cells_ =
      head_.cells == 0 || head_.cells > kMaxItemCells ? 1 : head_.cells;
  if (head_cells_ > end - tail_) return false;
  for (uint32_t i = 1; i < head_cells_; ++i) {
    if (!IsCommitted(tail_ + i)) return false;
  }
  return true;
}

// Returns the index behind the last reserved cell. If that is more than a ring,
// the program has overwritten the page, and everything there is skipped.
uint64_t SideReader::Look() {
  const uint64_t end = page_->side_head.load(std::memory_order_acquire);
  if (end - tail_ > size_) {
    CountLost(SideKind::kContinued);
    tail_ = end;
    Release(tail_);
  }
  return end;
}

// Items are taken in order. The first one that is not committed stops the loop,
// until it counts as lost.
size_t SideReader::Drain(uint64_t now_ns, bool last,
                         absl::FunctionRef<void(const SideItemView&)> take) {
  const uint64_t end = Look();
  const uint64_t begin = tail_;
  uint64_t released = tail_;
  while (tail_ != end) {
    if (Fetch(end)) {
      Take(take);
    } else if (WaitedLongEnough(now_ns, last)) {
      PassOver(end);
    } else {
      break;
    }
    // Released in pieces, so that a waiting producer continues early.
    if (tail_ - released >= size_ / 16) {
      Release(released);
      released = tail_;
    }
  }
  drained_ = tail_ == end;
  if (tail_ != released) Release(released);
  return tail_ - begin;
}

// The payload is copied to one piece, and cut to what the head needs.
void SideReader::Take(absl::FunctionRef<void(const SideItemView&)> take) {
  payload_.clear();
  for (uint32_t i = 1; i < head_cells_; ++i) {
    payload_.append(Cell(tail_ + i).payload, kSidePayloadBytes);
  }
  tail_ += head_cells_;
  const SideAny& head = head_;
  if (head.kind == SideKind::kNothing) {
    ++places_;
    return;
  }
  const uint64_t needed = PayloadBytes(head);
  if (head.kind < SideKind::kTouch || head.kind > kLastSideKind ||
      needed > payload_.size()) {
    return CountLost(head.kind);
  }
  payload_.resize(needed);
  take({head, payload_});
}

// Asks whether the thread lives only every 2 s, as that is a system call.
bool SideReader::WaitedLongEnough(uint64_t now_ns, bool last) {
  if (last) return true;
  if (waiting_at_ != tail_) {
    waiting_at_ = tail_;
    waiting_since_ns_ = asked_ns_ = now_ns;
  }
  // `now_ns` may be a little below that of an earlier call.
  if (now_ns <= asked_ns_ + kPatienceNs) return false;
  if (now_ns > waiting_since_ns_ + kLongestPatienceNs || !HolderLives()) {
    return true;
  }
  asked_ns_ = now_ns;
  return false;
}

// Skips the item at the tail, up to the next head. An item of kNothing is no
// loss: it only held a place.
void SideReader::PassOver(uint64_t end) {
  const SideKind kind =
      IsBegun(tail_) ? HeadOf(tail_).kind : SideKind::kContinued;
  if (kind != SideKind::kNothing) CountLost(kind);
  do {
    ++tail_;
  } while (tail_ != end && !IsBegun(tail_) &&
           !(IsCommitted(tail_) && IsHead(tail_, end)));
}

void SideReader::Release(uint64_t first) {
  const uint64_t used =
      page_->side_head.load(std::memory_order_relaxed) - first;
  reply_->side_tail.store(tail_, std::memory_order_release);
  // A producer waits only if an item does not fit, and no item is as large as
  // three quarters of the ring. Below the rest no producer can be waiting.
  if (used >= size_ / 4) {
    WakeProducers(reply_);
  }
}

}  // namespace pymemrun
