// Which stack a place makes that is called from another stack: the last ones
// met, by the address of the instruction. One probe, before StackNodes is
// asked. GIL held.
#ifndef PYMEMRUN_TRACER_CODE_RECENT_CHILDREN_H_
#define PYMEMRUN_TRACER_CODE_RECENT_CHILDREN_H_

#include <string.h>

#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/code/stack_nodes.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

// All zero bytes is an empty one.
class RecentChildren {
 public:
  // The id of the stack that is `frame` called from the stack `parent`; 0 as
  // StackNodes::Child().
  uint32_t Of(HotState& hot, StackNodes& nodes, uint32_t parent,
              const PymemrunFrame* frame) {
    const void* instruction = PymemrunFrameInstruction(frame);
    const uint64_t hash =
        (reinterpret_cast<uintptr_t>(instruction) ^ uint64_t{parent} << 40) *
        0x9E3779B97F4A7C15u;
    Child& child = children_[hash >> (64 - kBits)];
    if (child.instruction != instruction || child.parent != parent) {
      const uint32_t stack = nodes.Child(hot, parent, frame);
      if (stack == 0) return 0;
      child = {instruction, parent, stack};
      any_ = true;
    }
    return child.stack;
  }

  // Instructions, or ids, may be others' from now on.
  void Clear() {
    if (any_) memset(children_, 0, sizeof(children_));
    any_ = false;
  }

 private:
  struct Child {
    const void* instruction;  // null: none
    uint32_t parent;
    uint32_t stack;
  };
  static_assert(sizeof(Child) == 16);
  static constexpr int kBits = 12;

  alignas(64) Child children_[1u << kBits];
  bool any_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_RECENT_CHILDREN_H_
