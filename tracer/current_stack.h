// The stack of the thread that runs, as an id of StackNodes': what costs when
// each allocation or event has one. What was found before is kept, and holds as
// long as the frames have not moved. CPython 3.11's frames can be marked
// (tracer/frame_mark.h): its stacks are followed from the top down to the first
// frame whose mark stands, whatever the depth, on any thread
// (current_stack.cc). Others' are compared with the stack before, frame by
// frame (current_stack_compared.cc). GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CURRENT_STACK_H_
#define PYMEMRUN_TRACER_CURRENT_STACK_H_

#include <cstdint>

#include "tracer/cpython_compat.h"
#include "tracer/frame_mark.h"
#include "tracer/hot_state.h"
#include "tracer/stack_nodes.h"

namespace pymemrun {

class CurrentStack {
 public:
  // Makes and touches the tables. Returns false with errno set.
  static bool Create();

  // The id of the stack whose innermost frame is `top`, the thread's own; 0
  // where none of it runs Python code, and where a definition found no room.
  static uint32_t Of(HotState& hot, const PymemrunFrame* top) {
#ifdef PYMEMRUN_FRAME_MARKS
    // Its mark stands: the frame has not been left.
    if (__builtin_expect(top == g_last.frame && FrameState(top) == g_last.state,
                         1)) {
      return PymemrunFrameInstruction(top) == g_last.instruction
                 ? g_last.stack
                 : FindMoved(hot, top);
    }
#endif
    return Find(hot, top, kNoEvent);
  }
  // The same for an event of the frame, within our hook. `leaves`: the frame
  // is about to be left.
  static uint32_t AtEvent(HotState& hot, const PymemrunFrame* frame,
                          bool leaves) {
    return Find(hot, frame, leaves ? kLeaves : kStays);
  }

  // A code object dies: its address, and those of its instructions, may become
  // another's.
  static void CodeDied();
  // From here on events of `hook` tell of each call on the threads that have
  // it: what they do not tell of EventsMissed() says.
  static void HeardBy(PymemrunHook hook);
  static void EventsMissed();

  // Frames looked at so far by what is not the fast half.
  static uint64_t frames_seen();

 private:
  enum Event { kNoEvent, kStays, kLeaves };
  static uint32_t Find(HotState& hot, const PymemrunFrame* top, Event event);

#ifdef PYMEMRUN_FRAME_MARKS
  // Of the last one, which has gone on to another instruction.
  static uint32_t FindMoved(HotState& hot, const PymemrunFrame* top);

  struct Last {
    const PymemrunFrame* frame;  // marked as one that runs, never null
    uint64_t state;
    const void* instruction;
    uint32_t stack;
  };
  static Last g_last;
#endif
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CURRENT_STACK_H_
