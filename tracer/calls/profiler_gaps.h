// The stretches of time in which the script's own profiler holds a thread's
// profile slot: that thread's events are the script's, and a record says from
// when to when. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CALLS_PROFILER_GAPS_H_
#define PYMEMRUN_TRACER_CALLS_PROFILER_GAPS_H_

#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

class ThreadRegistry;

class ProfilerGaps {
 public:
  explicit constexpr ProfilerGaps(ThreadRegistry& threads)
      : threads_(threads) {}

  // From here on the slot of `tstate` is the script's; no effect when it was.
  // Beyond a thousand of them at once the rest goes unsaid.
  void Begin(HotState& hot, PyThreadState* tstate);
  // It is ours again: sends the record. No effect when it was ours.
  void End(HotState& hot, PyThreadState* tstate);
  // Sends the records of all that are open.
  void Flush(HotState& hot);

  bool any() const { return count_ > 0; }
  // `tstate`, the calling thread's, has just taken the GIL: ends the gap of a
  // thread that died with it. REQUIRES: any(). May not touch Python objects:
  // the interpreter has not made `tstate` its current one yet.
  void OnGilTaken(HotState& hot, PyThreadState* tstate);

 private:
  struct Gap {
    const PyThreadState* tstate;
    uint64_t tstate_id;  // never used again, other than the address
    uint64_t from_number;
    uint64_t from_stamp;
    uint32_t thread;  // 0: another thread began it, and this one had no event
  };
  static constexpr int kMaxGaps = 1024;

  Gap* Find(const PyThreadState* tstate);
  void Send(HotState& hot, Gap* gap);
  uint32_t OwnThread(HotState& hot, PyThreadState* tstate);

  ThreadRegistry& threads_;
  Gap gaps_[kMaxGaps] = {};  // the first count_ of them
  int count_ = 0;
  // The last thread that is known to have held the GIL.
  const PyThreadState* holder_ = nullptr;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_PROFILER_GAPS_H_
