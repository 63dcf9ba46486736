// Consumer of the side ring; there is one. The producers are threads of the
// traced process, and each may be killed at any moment.
#ifndef PYMEMRUN_COLLECTOR_RING_SIDE_READER_H_
#define PYMEMRUN_COLLECTOR_RING_SIDE_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// A checked copy of the head of an item, and its payload.
struct SideItemView : SideAny {
  absl::string_view payload;  // of the other cells, in one piece
};

// `page`, `cells` and `reply` are shared memory that must outlive it. The
// traced program may write anything to the first two at any time: each head is
// copied once, and only the copy is used. Not thread-safe.
//
// Two pairs of atomics order everything. The `sequence` of a cell is stored
// with release when the cell is filled, and loaded here with acquire. side_tail
// is stored with release after the last read, and loaded with acquire by
// producers.
class SideReader {
 public:
  // `lives` tells whether the traced process has this thread.
  SideReader(const ControlPage* page, const SideContinued* cells,
             ReplyPage* reply, std::function<bool(uint32_t thread)> lives)
      : page_(page),
        cells_(cells),
        size_(SideCells(*page)),
        reply_(reply),
        lives_(std::move(lives)) {}

  // Passes committed items to `take`, oldest first, up to the first uncommitted
  // one. The view is valid during the call. An uncommitted item at the tail
  // counts as lost after 2 s if its thread has ended, otherwise after a minute;
  // then the next item follows. `last`: no more will be committed, so it does
  // not wait. Returns the number of cells freed.
  size_t Drain(uint64_t now_ns, bool last,
               absl::FunctionRef<void(const SideItemView&)> take);

  // Whether the last Drain() reached the end of the ring.
  bool drained() const { return drained_; }
  // Items that were never committed, or were invalid.
  uint64_t lost(SideParty party) const {
    return lost_[static_cast<uint32_t>(party)];
  }
  // Number of kNothing items taken.
  uint64_t places() const { return places_; }

 private:
  SideAny HeadOf(uint64_t index) const;
  uint64_t Look();
  const SideContinued& Cell(uint64_t index) const {
    return cells_[index & (size_ - 1)];
  }
  bool IsCommitted(uint64_t index) const;
  bool IsBegun(uint64_t index) const;
  void CountLost(SideKind kind);
  bool IsHead(uint64_t index, uint64_t end) const;
  bool Fetch(uint64_t end);
  void Take(absl::FunctionRef<void(const SideItemView&)> take);
  bool WaitedLongEnough(uint64_t now_ns, bool last);
  bool HolderLives() const;
  void PassOver(uint64_t end);
  void Release(uint64_t first);

  const ControlPage* page_;
  const SideContinued* cells_;
  const uint64_t size_;  // their number, as it was said once
  ReplyPage* reply_;
  const std::function<bool(uint32_t thread)> lives_;
  // Our own copy: what stands in the page is for the producers to read.
  uint64_t tail_ = 0;
  uint64_t waiting_at_ = ~uint64_t{0};  // the tail that is waited at...
  uint64_t waiting_since_ns_ = 0;       // ...since
  uint64_t asked_ns_ = 0;               // when it was asked whether that lives
  std::array<uint64_t, kSideParties> lost_ = {};
  uint64_t places_ = 0;
  bool drained_ = true;
  SideAny head_;             // what Fetch() found
  uint32_t head_cells_ = 0;  // ...and how many cells that is
  std::string payload_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RING_SIDE_READER_H_
