// What one thread did, and for how long: its context switches, its holds of the
// GIL and its waits for it, put together.
#ifndef PYMEMRUN_READERS_REPLAY_STATES_THREAD_TIMES_H_
#define PYMEMRUN_READERS_REPLAY_STATES_THREAD_TIMES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "format/limits.h"
#include "readers/places/time_range.h"

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
constexpr size_t NumberOf(ThreadState state) {
  return static_cast<size_t>(state);
}

// By ThreadState.
using StateNanos = std::array<uint64_t, kThreadStates>;

// Steps of a thread in the order of time, in 8 bytes each.
class ThreadSteps {
 public:
  // What begins with a step. From kOther on: numbers of names.
  enum Code : uint8_t {
    kRuns,
    kRunnable,
    kLock,
    kIo,
    kTimer,
    kPageFault,
    kGone,
    kOther
  };

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

  uint64_t had_ns() const {
    return end_ns - begin_ns - std::min(end_ns - begin_ns, paused_ns);
  }
};

// A stretch of a thread's life in one state.
struct StateSpan {
  uint64_t begin_ns = 0, end_ns = 0;
  ThreadState state = ThreadState::kOther;
  // On a CPU: how long the thread held the GIL within the span; when is
  // unknown. The state is the one that took most of it.
  uint64_t gil_ns = 0;
  uint8_t other = 0;  // of kOther: as ThreadTimes::other_ns has them
  // When it began is not known: the kernel says only for how long, in sum.
  bool is_estimated = false;

  uint64_t long_ns() const { return end_ns - begin_ns; }
};

// What the scheduler had counted of the thread then. All rise.
struct SchedReading {
  uint64_t time_ns, runnable_ns;
  uint64_t run_ns = 0;
  uint64_t since_ns = 0;  // nothing was counted from the last one until then
};

// A stretch of a thread's life. The scheduler says for how long the thread was
// in each state then, and not when.
struct CountedSpan {
  uint64_t begin_ns = 0, end_ns = 0;
  StateNanos ns = {};  // they add up to the stretch

  uint64_t long_ns() const { return end_ns - begin_ns; }
};

struct ThreadTimes {
  StateNanos ns = {};
  // The parts of kOther, by step code minus ThreadSteps::kOther.
  std::vector<uint64_t> other_ns;
  StateNanos sleeps = {};  // how many of each kind

  // Adds the part of the span that is in the range. Adjacent ranges add up to
  // the same sums, wherever they meet. False: no part is in it.
  bool Add(StateSpan span, const TimeRange& range);
  void Add(const CountedSpan& span, const TimeRange& range);
  uint64_t total_ns() const;
};

// Calls `take` with a thread's spans in the order of time, without gaps until
// it ended. `end_ns` is that of the run. `holds` and `waits` are of the thread,
// in any order. `readings`: how long it waited for a CPU, by the scheduler's
// count. The steps may miss some of that time: it was at the ends of sleeps,
// and the kernel does not say which. Each sleep that ended between two readings
// is shortened by the same amount, or by its whole length.
void EachSpan(const ThreadSteps& steps, uint64_t end_ns,
              std::vector<GilPart> holds, std::vector<GilPart> waits,
              const std::vector<SchedReading>& readings,
              absl::FunctionRef<void(const StateSpan&)> take);

// What a thread did by the scheduler's counts alone, from `first_ns` to
// `end_ns`. What it did not run, nor want to, it slept. A reading may have more
// than its time has room for: the next ones have that, or else those before.
std::vector<CountedSpan> CountedSpans(const std::vector<SchedReading>& readings,
                                      uint64_t first_ns, uint64_t end_ns,
                                      std::vector<GilPart> holds,
                                      std::vector<GilPart> waits);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_STATES_THREAD_TIMES_H_
