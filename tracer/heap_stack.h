// The stack of an allocation, as an id of StackWalk's: what costs when every
// allocation has one. The stack before is kept; what of it still stands keeps
// its ids, and usually only the innermost instruction has moved.
//
// The whole chain of frames is compared each time: a caller may have gone on
// while a frame like the old one was put in its place. GIL held; nothing
// allocates.
#ifndef PYMEMRUN_TRACER_HEAP_STACK_H_
#define PYMEMRUN_TRACER_HEAP_STACK_H_

#include <cstdint>

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"
#include "tracer/stack_walk.h"

namespace pymemrun {

class HeapStack {
 public:
  // Makes and touches the tables; REQUIRES: StackWalk::Create(). Returns false
  // with errno set.
  static bool Create();
  // The id of the stack that ends in `top`; 0 for null, and where a definition
  // found no room.
  static uint32_t Current(HotState& hot, const PymemrunFrame* top) {
    if (top == nullptr) return 0;
    if (__builtin_expect(
            g_depth == 0 || g_generation != StackWalk::generation(), 0)) {
      return Rebuild(hot, top);
    }
    const Level* level = &g_levels[g_depth - 1];
    return level->frame == top && Stands(level) ? level->stack
                                                : Follow(hot, top);
  }
  // A code object dies: its address, and those of its instructions, may become
  // another's.
  static void CodeDied();

 private:
  struct Level {
    const PymemrunFrame* frame;
    const void* instruction;  // the frame's last
    uint32_t stack;           // id of the stack down to here
    uint32_t unused;
  };
  // Whether all that is kept up to `level` is as it was. A frame that is kept
  // is read only after the one above it was seen to lead to it.
  static bool Stands(const Level* level) {
    for (;; --level) {
      const PymemrunFrame* back = PymemrunFrameBack(level->frame);
      if (PymemrunFrameInstruction(level->frame) != level->instruction) {
        return false;
      }
      if (level == g_levels) return back == nullptr;
      if (back != level[-1].frame) return false;
    }
  }
  static uint32_t Follow(HotState& hot, const PymemrunFrame* top);
  static uint32_t Rebuild(HotState& hot, const PymemrunFrame* top);
  static uint32_t Extend(HotState& hot, const PymemrunFrame* frame);

  static Level* g_levels;  // the outermost first
  static uint32_t g_depth;
  static uint32_t g_generation;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_STACK_H_
