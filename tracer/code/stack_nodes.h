// The call tree of the run, as the traced process knows it. A stack is a node:
// a place, called from another node. A known node costs one look-up. All
// functions need the GIL; nothing allocates.
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

// Cutting of deep stacks. A cut stack keeps its innermost frames, from a depth
// that is a multiple of kStackBlock: at least kStackBlock frames, at most twice
// as many. So the cut stays at the same frame while the stack grows, and the
// nodes above it keep their ids.
inline constexpr uint32_t kStackBlock = 2048;
inline constexpr uint32_t kMaxStackDepth = 2 * kStackBlock;

// Number of the first frame kept in a stack whose innermost frame has number
// `depth`. The outermost frame has number 0.
inline uint64_t FirstKept(uint64_t depth) {
  const uint64_t block = depth / kStackBlock;
  return block == 0 ? 0 : (block - 1) * kStackBlock;
}

class StackNodes {
 public:
  explicit constexpr StackNodes(CodeRegistry& codes) : codes_(codes) {}
  // Makes and touches the table. Returns false with errno set on failure.
  bool Create();
  // Whether `nodes` more nodes fit, and the ids are valid.
  bool Fit(uint32_t nodes) const;
  // Forgets all nodes. Earlier ids are void, and new ids start again.
  void Forget(HotState& hot);
  // Number of calls of Forget().
  uint32_t times_forgotten() const { return times_forgotten_; }

  // Returns the id of the stack in which `frame` is called from the stack
  // `parent`; 0: `frame` is outermost. Sends the node to the collector if it is
  // new. Returns 0 if the ring had no room, or if all ids are void from now on,
  // which Fit() tells. REQUIRES: Fit(1).
  uint32_t Child(HotState& hot, uint32_t parent, const PymemrunFrame* frame);
  // Returns the id of the node that stands for the frames a cut left out. Fails
  // as Child() does.
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
  uint32_t code_generation_ = 0;  // generation of the code ids in nodes_
};

// A cache before StackNodes, with one probe: the last stacks, by address of the
// instruction and parent stack. All zero bytes is an empty cache.
class RecentChildren {
 public:
  // Returns the same id as StackNodes::Child().
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

  // Empties the cache: addresses of instructions or ids may get another
  // meaning.
  void Clear() {
    if (any_) memset(children_, 0, sizeof(children_));
    any_ = false;
  }

 private:
  struct Child {
    const void* instruction;  // null: empty
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
