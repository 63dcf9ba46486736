// The last holds of a GIL: what a wait is charged to when it ends. Used by
// GilReplay.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_HOLD_HISTORY_H_
#define PYMEMRUN_READERS_REPLAY_GIL_HOLD_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
  // At most this number of holds are examined for one wait, so that reading
  // stays linear.
  static constexpr size_t kMost = 64;

  void Add(const GilSpan& span) {
    if (spans_.size() < kMost) {
      spans_.push_back(span);
    } else {
      spans_[next_ % kMost] = span;
    }
    ++next_;
  }
  // Calls take(span, ns) for each hold in [begin, end), the last one first,
  // with the time that it had in this interval. `paused_ns`: how long the hold
  // in progress at `begin` had paused until then. Returns the time before all
  // holds that are remembered.
  uint64_t EachIn(uint64_t begin, uint64_t end, uint64_t paused_ns,
                  absl::FunctionRef<void(const GilSpan&, uint64_t)> take) const;

 private:
  std::vector<GilSpan> spans_;  // a ring once it is full
  uint64_t next_ = 0;           // how many were added
};

// The pauses that a thread caused at one place. In a free-threaded interpreter
// one thread stops all others, for example to collect garbage.
struct StopSums {
  uint64_t stops = 0;
  // From the moment at which it asked, or the first thread stood still, until
  // the last went on.
  uint64_t paused_ns = 0, longest_ns = 0;
  uint64_t stood_ns = 0;  // for which others stood still, of all of them
};

// Threads by first ThreadDef.id. Memory is bounded by threads and places. Not
// thread safe.
class WorldStops {
 public:
  // Who stopped all, and where it released them, if that is known.
  using Key = std::pair<uint32_t, GilPlace>;

  // The thread asks all others to stop; when they have.
  void Ask(uint32_t thread, uint64_t time_ns);
  void Stopped(uint32_t thread, uint64_t time_ns);
  // Another one stood still because `by` had stopped all.
  void Stood(uint32_t by, uint64_t begin_ns, uint64_t end_ns,
             const GilPlace& place);
  // Nothing more comes.
  void Finish();

  // After Finish().
  const absl::flat_hash_map<Key, StopSums>& sums() const { return sums_; }
  const StopSums& all() const { return all_; }

 private:
  // The last pause that a thread made.
  struct Pause {
    uint64_t begin_ns = 0, end_ns = 0, stood_ns = 0;
    GilPlace place;
    bool any = false;  // it is not summed up yet
  };

  Pause& PauseOf(uint32_t thread, uint64_t begin_ns);
  void Close(uint32_t thread, Pause* pause);

  std::vector<Pause> pauses_;  // by thread
  absl::flat_hash_map<Key, StopSums> sums_;
  StopSums all_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_HOLD_HISTORY_H_
