#include "tracer/code/stack_nodes.h"

#include "tracer/base/own_memory.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {
// Returns the id of the node, and defines it if it is new. Returns 0 if the
// ring has no room.
inline uint32_t StackNodes::Intern(HotState& hot, Node node) {
  const auto same = [&](const Node& n) {
    return n.parent == node.parent && n.code == node.code &&
           n.position == node.position;
  };
  Node* slot = nodes_.Find(node.hash(), same);
  if (!slot->empty()) return slot->id;
  const StackPayload payload = {node.parent, node.code, node.position, 0};
  if (!PutStruct(hot, ControlKind::kStackDef, last_id_ + 1, payload)) {
    return 0;
  }
  node.id = ++last_id_;
  nodes_.Insert(slot, node);
  return node.id;
}

bool StackNodes::Create() {
  void* memory = OwnMemory::MapTold(nodes_.kBytes);
  if (memory == nullptr) return false;
  nodes_.Use(memory);
  return true;
}

// Nodes refer to ids of code objects, so they are void when those were
// forgotten.
bool StackNodes::Fit(uint32_t nodes) const {
  return nodes_.used() + nodes < nodes_.kMaxUsed &&
         code_generation_ == codes_.generation();
}

void StackNodes::Forget(HotState& hot) {
  code_generation_ = codes_.generation();
  nodes_.Clear();
  last_id_ = 0;
  ++times_forgotten_;
  PutForget(hot, ControlKind::kStackDef);
}

// Looking up the code object may empty its table, which voids `parent` too.
// Then the result is 0.
uint32_t StackNodes::Child(HotState& hot, uint32_t parent,
                           const PymemrunFrame* frame) {
  const SiteId site = codes_.CodeOf(hot, PymemrunFrameCode(frame), frame);
  if (site.id == 0 || code_generation_ != codes_.generation()) {
    return 0;
  }
  return Intern(hot, Node{parent, site.id, PymemrunFramePosition(frame), 0});
}

uint32_t StackNodes::Deeper(HotState& hot) {
  return Intern(hot, Node{0, kDeeperFrames, 0, 0});
}

}  // namespace pymemrun
