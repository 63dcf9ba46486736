// The times of one thread, by what it did: from its context switches, its holds
// of the GIL and its waits for it.
#ifndef PYMEMRUN_READERS_STATES_THREAD_TIMES_H_
#define PYMEMRUN_READERS_STATES_THREAD_TIMES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/limits.h"

namespace pymemrun {

// What a thread does.
enum class ThreadState : uint8_t {
  kRunsWithGil,
  kRuns,      // without the GIL, or it is not known whether with it
  kRunnable,  // it wants a CPU
  kGil,       // from here on it sleeps; here for the GIL
  kLock,
  kIo,
  kTimer,
  kPageFault,
  kOther,  // something else, or it was not asked
};
inline constexpr size_t kThreadStates = 9;

// By ThreadState.
using StateNanos = std::array<uint64_t, kThreadStates>;

// Steps of a thread in the order of time, in 8 bytes each.
class ThreadSteps {
 public:
  // What begins with a step. From kOther on: numbers of names.
  enum Code : uint8_t { kRuns, kRunnable, kLock, kIo, kTimer, kPageFault,
                        kGone, kOther };

  // A time below the last one's counts as that.
  void Add(uint64_t time_ns, uint8_t code) {
    if (!steps_.empty()) time_ns = std::max(time_ns, Time(steps_.size() - 1));
    steps_.push_back(std::min(time_ns, kMaxStateNanos - 1) << 8 | code);
  }
  // What is known of the last step now.
  void Rename(uint8_t code) { steps_.back() = (steps_.back() & ~kMask) | code; }
  bool empty() const { return steps_.empty(); }
  size_t size() const { return steps_.size(); }
  uint64_t Time(size_t step) const { return steps_[step] >> 8; }
  uint8_t CodeOf(size_t step) const {
    return static_cast<uint8_t>(steps_[step] & kMask);
  }

 private:
  static constexpr uint64_t kMask = 0xFF;
  static_assert(kMaxStateNanos - 1 <= ~uint64_t{0} >> 8);
  std::vector<uint64_t> steps_;
};

// When a thread had the GIL, its pauses included, or waited for it.
struct GilPart {
  uint64_t begin_ns, end_ns;
  uint64_t paused_ns;
};

struct ThreadTimes {
  StateNanos ns = {};
  // Of what kOther has: by the codes of the steps, less ThreadSteps::kOther.
  std::vector<uint64_t> other_ns;
  StateNanos sleeps = {};  // how many

  uint64_t total_ns() const;
};

// `end_ns`: of the run. `holds` and `waits` of that thread, in any order.
ThreadTimes TimesOf(const ThreadSteps& steps, uint64_t end_ns,
                    std::vector<GilPart> holds, std::vector<GilPart> waits);

// After a sleep a thread may have wanted a CPU for `ns` in all. The kernel does
// not say in which sleeps that was: each has the same part of it.
void MoveToRunnable(uint64_t ns, ThreadTimes* times);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_STATES_THREAD_TIMES_H_
