#include "tracer/stack_nodes.h"

#include "tracer/code_registry.h"
#include "tracer/event_ring.h"
#include "tracer/own_memory.h"
#include "tracer/pointer_table.h"

namespace pymemrun {
namespace {

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

constexpr uint32_t kNodes = 1u << 16;

PointerTable<Node, kNodes> g_nodes;
uint32_t g_last_id = 0;
uint32_t g_code_generation = 0;  // of the code ids that the nodes are made of

// Returns the node's id, or 0 without room in the ring.
uint32_t InternNode(HotState& hot, Node node) {
  const auto same = [&](const Node& n) {
    return n.parent == node.parent && n.code == node.code &&
           n.position == node.position;
  };
  Node* slot = g_nodes.Find(node.hash(), same);
  if (!slot->empty()) return slot->id;
  const StackPayload payload = {node.parent, node.code, node.position, 0};
  const Piece piece = {&payload, sizeof(payload)};
  if (!PutPayload(hot, ControlKind::kStackDef, g_last_id + 1, 0, &piece, 1)) {
    return 0;
  }
  node.id = ++g_last_id;
  g_nodes.Insert(slot, node);
  return node.id;
}

}  // namespace

bool StackNodes::Create() {
  void* memory = OwnMemory::Map(g_nodes.kBytes);
  if (memory == nullptr) return false;
  g_nodes.Use(memory);
  return true;
}

bool StackNodes::Fit(uint32_t nodes) {
  return g_nodes.used() + nodes < g_nodes.kMaxUsed &&
         g_code_generation == CodeRegistry::generation();
}

void StackNodes::Forget(HotState& hot) {
  g_code_generation = CodeRegistry::generation();
  g_nodes.Clear();
  g_last_id = 0;
  PutPayload(hot, ControlKind::kForget, 0,
             static_cast<uint32_t>(ControlKind::kStackDef), nullptr, 0);
}

uint32_t StackNodes::Child(HotState& hot, uint32_t parent,
                           const PymemrunFrame* frame) {
  const SiteId site = CodeOf(hot, PymemrunFrameCode(frame), frame);
  if (site.id == 0 || g_code_generation != CodeRegistry::generation()) {
    return 0;
  }
  return InternNode(hot,
                    Node{parent, site.id, PymemrunFramePosition(frame), 0});
}

uint32_t StackNodes::Deeper(HotState& hot) {
  return InternNode(hot, Node{0, kDeeperFrames, 0, 0});
}

}  // namespace pymemrun
