// The stack of the thread that runs, as an id of StackNodes': what costs when
// each allocation or event has one. What was found before is kept, and holds as
// long as the frames have not moved. Where the interpreter's frames can be
// marked (tracer/cpython/frame_mark.h) stacks are followed from the top down to
// the first frame whose mark stands; elsewhere they are compared with the stack
// before. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_
#define PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_

#include "tracer/code/compared_stack.h"
#include "tracer/code/marked_stack.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

#ifdef PYMEMRUN_FRAME_MARKS
class CurrentStack final : public MarkedStack {
 public:
  using MarkedStack::MarkedStack;
};
#else
class CurrentStack final : public ComparedStack {
 public:
  using ComparedStack::ComparedStack;
};
#endif

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_
