// What the interpreter itself allocates because a profile callback is
// installed: a frame object for every live call, a bound object for a method
// call under way (3.11), an array of line numbers for every code object that
// ran (3.11.0 to 3.11.2). It is the program's memory by the kernel's account,
// but tracing's by cause. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_TRACING_COST_H_
#define PYMEMRUN_TRACER_CODE_TRACING_COST_H_

#include <cstdint>

#include "tracer/cpython/compat.h"

namespace pymemrun {

class TracingCost {
 public:
  // A code object ran for the first time; it dies.
  void CodeSeen(PyCodeObject* code);
  void CodeDied(PyCodeObject* code);
  // All code objects will be seen for a first time again.
  void CodesForgotten();

  // RSS rose while `frame` ran: adds up the frame objects below it, and the
  // bound objects of calls under way there, as far as kMaxStackDepth frames or
  // up to where it did last time.
  void FramesAt(const PymemrunFrame* frame);

  // The most bytes that there were at one time.
  uint64_t peak_line_array_bytes() const { return peak_line_array_bytes_; }
  uint64_t peak_frame_bytes() const { return peak_frame_bytes_; }
  // Of these only the upper bound is known: a call from Python that led back
  // into Python may have needed none.
  uint64_t peak_bound_bytes() const { return peak_bound_bytes_; }

 private:
  uint64_t line_array_bytes_ = 0;
  uint64_t peak_line_array_bytes_ = 0;
  uint64_t peak_frame_bytes_ = 0;
  uint64_t peak_bound_bytes_ = 0;
  // A frame of the last walk and what it and the frames below it came to. A
  // recursion that grows finds it again after a few steps.
  const PymemrunFrame* known_frame_ = nullptr;
  const PymemrunFrame* known_back_ = nullptr;
  uint64_t known_frame_bytes_ = 0;
  uint64_t bound_bytes_below_ = 0;  // without the frame's own call
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_TRACING_COST_H_
