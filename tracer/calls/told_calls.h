// Which C calls under way a script's own profiler was told of. CPython tells
// the end of a C call only where a profiler was there at its begin; ours was,
// so that the end of sys.setprofile itself would come to a profiler that does
// not expect it.
//
// Up to CPython 3.11, whose profilers have the thread's slot for themselves.
// GIL held.
#ifndef PYMEMRUN_TRACER_CALLS_TOLD_CALLS_H_
#define PYMEMRUN_TRACER_CALLS_TOLD_CALLS_H_

#include <cstdint>

#include "tracer/cpython/compat.h"
#include "tracer/cpython/frame_mark.h"

namespace pymemrun {

// One for each thread.
class ToldCalls {
 public:
#ifdef PYMEMRUN_FRAME_MARKS
  // The frame says it itself: of two greenlets each has calls of its own under
  // way, and any may end first.
  void Forget() {}
  void Begins(const PymemrunFrame* frame) { FrameSpare(frame) = kToldOfCall; }
  bool Ends(const PymemrunFrame* frame) {
    const bool told = FrameSpare(frame) == kToldOfCall;
    ClearSpare(frame);
    return told;
  }
#else
  // None of what is under way was told.
  void Forget() { count_ = 0; }
  void Begins(const PymemrunFrame*) { ++count_; }
  // Whether its begin was told.
  bool Ends(const PymemrunFrame*) {
    if (count_ == 0) return false;
    --count_;
    return true;
  }

 private:
  uint64_t count_;
#endif
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_TOLD_CALLS_H_
