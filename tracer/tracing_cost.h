// What the interpreter itself allocates because a profile callback is
// installed: a frame object for every live call, a bound object for a method
// call under way (3.11), an array of line numbers for every code object that
// ran (3.11.0 to 3.11.2). It is the program's memory by the kernel's account,
// but tracing's by cause. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_TRACING_COST_H_
#define PYMEMRUN_TRACER_TRACING_COST_H_

#include <cstdint>

#include "tracer/cpython_compat.h"

namespace pymemrun {

class TracingCost {
 public:
  // A code object ran for the first time; it dies.
  static void CodeSeen(PyCodeObject* code);
  static void CodeDied(PyCodeObject* code);
  // All code objects will be seen for a first time again.
  static void CodesForgotten();

  // RSS rose while `frame` ran: adds up the frame objects below it, and the
  // bound objects of calls under way there, as far as kMaxStackDepth frames or
  // up to where it did last time.
  static void FramesAt(const PymemrunFrame* frame);

  // The most bytes that there were at one time.
  static uint64_t peak_line_array_bytes();
  static uint64_t peak_frame_bytes();
  // Of these only the upper bound is known: a call from Python that led back
  // into Python may have needed none.
  static uint64_t peak_bound_bytes();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_TRACING_COST_H_
