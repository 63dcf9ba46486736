// Memory that the interpreter allocates only because a profile callback is
// installed: a frame object for every live call, a bound object for a running
// method call (3.11), an array of line numbers for every code object that ran
// (3.11.0 to 3.11.2). The kernel counts it as memory of the program, but
// tracing causes it. All functions need the GIL; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_TRACING_COST_H_
#define PYMEMRUN_TRACER_CODE_TRACING_COST_H_

#include <cstdint>

#include "tracer/cpython/compat.h"

namespace pymemrun {

class TracingCost {
 public:
  // A code object ran for the first time; it is destroyed.
  void CodeSeen(PyCodeObject* code);
  void CodeDied(PyCodeObject* code);
  // All code objects count as new again.
  void CodesForgotten();

  // RSS rose while `frame` ran: adds up frame objects and bound objects of the
  // calls below it, up to kMaxStackDepth frames or up to the last walk.
  void FramesAt(const PymemrunFrame* frame);

  // Largest number of bytes at one time.
  uint64_t peak_line_array_bytes() const { return peak_line_array_bytes_; }
  uint64_t peak_frame_bytes() const { return peak_frame_bytes_; }
  // An upper bound: a call from Python that led back into Python may have
  // needed no bound object.
  uint64_t peak_bound_bytes() const { return peak_bound_bytes_; }

 private:
  uint64_t line_array_bytes_ = 0;
  uint64_t peak_line_array_bytes_ = 0;
  uint64_t peak_frame_bytes_ = 0;
  uint64_t peak_bound_bytes_ = 0;
  // A frame of the last walk, and the sum for it and the frames below it. A
  // growing recursion reaches it after a few steps.
  const PymemrunFrame* known_frame_ = nullptr;
  const PymemrunFrame* known_back_ = nullptr;
  uint64_t known_frame_bytes_ = 0;
  uint64_t bound_bytes_below_ = 0;  // without the frame's own call
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_TRACING_COST_H_
