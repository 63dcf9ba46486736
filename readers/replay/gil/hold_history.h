// The last holds of a GIL: what a wait is charged to when it ends. Used by
// GilReplay.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_HOLD_HISTORY_H_
#define PYMEMRUN_READERS_REPLAY_GIL_HOLD_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace pymemrun {

// Where a thread was when it let go, as far as its stack was recorded.
struct GilPlace {
  uint32_t stack = 0;     // StackDef.id; 0: not known
  uint32_t function = 0;  // FunctionDef.id of the C function; 0: none

  friend bool operator==(const GilPlace& a, const GilPlace& b) {
    return a.stack == b.stack && a.function == b.function;
  }
  template <typename H>
  friend H AbslHashValue(H h, const GilPlace& place) {
    return H::combine(std::move(h), place.stack, place.function);
  }
};

// From when to when a thread had a GIL, its pauses included.
struct GilSpan {
  uint32_t thread = 0;
  uint64_t begin_ns = 0, end_ns = 0;
  uint64_t paused_ns = 0;
  GilPlace place;
};

// Not thread safe.
class HoldHistory {
 public:
  // So many holds are looked at for one wait: a file's reading is linear.
  static constexpr size_t kMost = 64;

  void Add(const GilSpan& span) {
    if (spans_.size() < kMost) {
      spans_.push_back(span);
    } else {
      spans_[next_ % kMost] = span;
    }
    ++next_;
  }
  // Calls take(span, ns) for each hold in [begin, end), the last one first: how
  // much of that time it took. `paused_ns`: of the hold that was under way at
  // `begin`, what it had paused until then. Returns how much of the time lies
  // before all holds that are remembered.
  uint64_t EachIn(uint64_t begin, uint64_t end, uint64_t paused_ns,
                  absl::FunctionRef<void(const GilSpan&, uint64_t)> take) const;

 private:
  std::vector<GilSpan> spans_;  // a ring once it is full
  uint64_t next_ = 0;  // so many were added
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_HOLD_HISTORY_H_
