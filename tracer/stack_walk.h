// Call stacks, walked straight from the interpreter's frames and interned: a
// stack is a node of the run's call tree, and one that was seen costs one id.
// GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_STACK_WALK_H_
#define PYMEMRUN_TRACER_STACK_WALK_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"

namespace pymemrun {

// Frames looked at; a deeper stack keeps its innermost ones, under one of
// kDeeperFrames.
inline constexpr uint32_t kMaxStackDepth = 4096;

class StackWalk {
 public:
  // Makes and touches the table. Returns false with errno set.
  static bool Create();
  // The id of the stack that ends in `frame`; sends the nodes that are new. 0
  // when a definition found no room.
  static uint32_t Intern(HotState& hot, const PymemrunFrame* frame);

  // The id of the stack that is `frame` called from the stack `parent`; 0 where
  // that needs Intern().
  static uint32_t Child(HotState& hot, uint32_t parent,
                        const PymemrunFrame* frame);
  // Ids from before it changed are void.
  static uint32_t generation();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_STACK_WALK_H_
