// The stretches of time in which the script's own profiler holds a thread's
// profile slot: that thread's events are the script's, and a record says from
// when to when. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_PROFILER_GAPS_H_
#define PYMEMRUN_TRACER_PROFILER_GAPS_H_

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"

namespace pymemrun {

class ProfilerGaps {
 public:
  // From here on the slot of `tstate` is the script's; no effect when it was.
  // Beyond a thousand of them at once the rest goes unsaid.
  static void Begin(HotState& hot, PyThreadState* tstate);
  // It is ours again: sends the record. No effect when it was ours.
  static void End(HotState& hot, PyThreadState* tstate);
  // Sends the records of all that are open.
  static void Flush(HotState& hot);

  static bool any() { return count_ > 0; }
  // `tstate`, the calling thread's, has just taken the GIL: ends the gap of a
  // thread that died with it. REQUIRES: any(). May not touch Python objects:
  // the interpreter has not made `tstate` its current one yet.
  static void OnGilTaken(HotState& hot, PyThreadState* tstate);

 private:
  static int count_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PROFILER_GAPS_H_
