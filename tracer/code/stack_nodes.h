// The run's call tree as the traced process knows it: a stack is a node, a node
// is a place called from another node, and one that was seen costs one look-up.
// GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_STACK_NODES_H_
#define PYMEMRUN_TRACER_CODE_STACK_NODES_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/base/pointer_table.h"
#include "tracer/code/code_registry.h"
#include "tracer/cpython/compat.h"

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
  explicit constexpr StackNodes(CodeRegistry& codes) : codes_(codes) {}
  // Makes and touches the table. Returns false with errno set.
  bool Create();
  // Whether so many more nodes fit, and the ids are not void.
  bool Fit(uint32_t nodes) const;
  // Forgets all nodes; ids begin anew, and those from before are void.
  void Forget(HotState& hot);
  // How often all were forgotten.
  uint32_t times_forgotten() const { return times_forgotten_; }

  // The id of the stack that is `frame` called from the stack `parent`, 0 for
  // none; sends the node if it is new. Returns 0 where the ring had no room, or
  // where the ids are void from now on: Fit() says so. REQUIRES: it fits.
  uint32_t Child(HotState& hot, uint32_t parent, const PymemrunFrame* frame);
  // The id of what stands for the frames that a cut left out; likewise.
  uint32_t Deeper(HotState& hot);

 private:
  struct Node {
    uint32_t parent;
    uint32_t code;  // 0: empty
    uint32_t position;
    uint32_t id;
    bool empty() const { return code == 0; }
    uint64_t hash() const {
      const uint64_t mixed =
          (uint64_t{parent} << 32 | code) * 0x9E3779B97F4A7C15u ^ position;
      return mixed * 0xC2B2AE3D27D4EB4Fu;
    }
  };
  static_assert(sizeof(Node) == 16);
  uint32_t Intern(HotState& hot, Node node);

  CodeRegistry& codes_;
  PointerTable<Node, 1u << 16> nodes_;
  uint32_t last_id_ = 0;
  uint32_t times_forgotten_ = 0;
  uint32_t code_generation_ = 0;  // of the code ids that the nodes are made of
};

// Which stack a place makes that is called from another stack: the last ones
// met, by the address of the instruction. One probe, before StackNodes is
// asked. All zero bytes is an empty one.
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

#endif  // PYMEMRUN_TRACER_CODE_STACK_NODES_H_
