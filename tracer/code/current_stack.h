// The stack of the thread that runs, as an id of StackNodes': what costs when
// each allocation or event has one. What was found before is kept, and holds as
// long as the frames have not moved. A stack is compared with the one before.
// Where the interpreter's frames can be marked (tracer/cpython/frame_mark.h)
// this is for shallow ones alone: others are followed from the top down to the
// first frame whose mark stands. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_
#define PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_

#include "tracer/code/compared_stack.h"
#include "tracer/code/marked_stack.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

#ifdef PYMEMRUN_FRAME_MARKS
class CurrentStack final {
 public:
  explicit constexpr CurrentStack(StackNodes& nodes)
      : nodes_(nodes), marked_(nodes), compared_(nodes) {}

  // Makes and touches the tables. Returns false with errno set.
  bool Create(HotState& hot) {
    return marked_.Create(hot) && compared_.Create(hot);
  }

  // The id of the stack whose innermost frame is `top`, the thread's own. 0: no
  // frame of it runs Python code, or a definition found no room.
  uint32_t Of(HotState& hot, const PymemrunFrame* top) {
    uint32_t stack;
    if (!is_deep_ && IsShallow(hot, top, &stack)) return stack;
    stack = marked_.Of(hot, top);
    if (marked_.depth() < kShallowAgain) Change(hot, false);
    return stack;
  }
  // The same for an event of the frame, within our hook. `leaves`: the frame
  // is about to be left.
  uint32_t AtEvent(HotState& hot, const PymemrunFrame* frame, bool leaves) {
    uint32_t stack;
    if (!is_deep_ && IsShallow(hot, frame, &stack)) return stack;
    stack = marked_.AtEvent(hot, frame, leaves);
    if (marked_.depth() < kShallowAgain) Change(hot, false);
    return stack;
  }

  // A code object dies: its address, and those of its instructions, may become
  // another's.
  void CodeDied() {
    marked_.CodeDied();
    compared_.CodeDied();
  }
  // From here on events of `hook` tell of each call on the threads that have
  // it: what they do not tell of EventsMissed() says.
  void HeardBy(PymemrunHook hook) { marked_.HeardBy(hook); }
  void EventsMissed() { marked_.EventsMissed(); }

  // Frames looked at so far by what is not the fast half.
  uint64_t frames_seen() const {
    return marked_.frames_seen() + compared_.frames_seen();
  }

 private:
  // Fewer than what is too deep to be compared, so that calls and returns
  // around that depth change nothing.
  static constexpr uint32_t kShallowAgain = 5;

  bool IsShallow(HotState& hot, const PymemrunFrame* top, uint32_t* stack) {
    *stack = compared_.OfShallow(hot, top);
    if (__builtin_expect(*stack != ComparedStack::kTooDeep, 1)) return true;
    Change(hot, true);
    return false;
  }
  // What the other way has found holds on, if the ids do.
  void Change(HotState& hot, bool is_deep) {
    is_deep_ = is_deep;
    if (nodes_.times_forgotten() == times_forgotten_) return;
    times_forgotten_ = nodes_.times_forgotten();
    marked_.NodesForgotten(hot);
    compared_.NodesForgotten();
  }

  StackNodes& nodes_;
  MarkedStack marked_;
  ComparedStack compared_;
  bool is_deep_ = false;
  uint32_t times_forgotten_ = 0;
};
#else
class CurrentStack final : public ComparedStack {
 public:
  using ComparedStack::ComparedStack;
};
#endif

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_
