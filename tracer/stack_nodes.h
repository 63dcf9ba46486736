// The run's call tree as the traced process knows it: a stack is a node, a node
// is a place called from another node, and one that was seen costs one look-up.
// GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_STACK_NODES_H_
#define PYMEMRUN_TRACER_STACK_NODES_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"

namespace pymemrun {

// A stack that is cut keeps its innermost frames, from one on whose depth is a
// multiple of this: at least so many, at most twice as many. So the cut stays
// where it is while the stack grows, and with it the ids of what lies above.
inline constexpr uint32_t kStackBlock = 2048;
inline constexpr uint32_t kMaxStackDepth = 2 * kStackBlock;

// The first frame kept of a stack whose innermost one is number `depth`; the
// outermost is number 0.
inline uint64_t FirstKept(uint64_t depth) {
  const uint64_t block = depth / kStackBlock;
  return block == 0 ? 0 : (block - 1) * kStackBlock;
}

class StackNodes {
 public:
  // Makes and touches the table. Returns false with errno set.
  static bool Create();
  // Whether so many more nodes fit, and the ids are not void.
  static bool Fit(uint32_t nodes);
  // Forgets all nodes; ids begin anew, and those from before are void.
  static void Forget(HotState& hot);

  // The id of the stack that is `frame` called from the stack `parent`, 0 for
  // none; sends the node if it is new. Returns 0 where the ring had no room, or
  // where the ids are void from now on: Fit() says so. REQUIRES: it fits.
  static uint32_t Child(HotState& hot, uint32_t parent,
                        const PymemrunFrame* frame);
  // The id of what stands for the frames that a cut left out; likewise.
  static uint32_t Deeper(HotState& hot);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_STACK_NODES_H_
