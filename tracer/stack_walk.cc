#include "tracer/stack_walk.h"

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

struct Tables {
  alignas(4096) char nodes[sizeof(Node) * kNodes];
  const PymemrunFrame* frames[kMaxStackDepth];
};

Tables* g_tables = nullptr;
PointerTable<Node, kNodes> g_nodes;
uint32_t g_last_id = 0;
uint32_t g_code_generation = 0;  // of the code ids that the nodes are made of
uint32_t g_generation = 0;

void ForgetAll(HotState& hot) {
  ++g_generation;
  g_code_generation = CodeRegistry::generation();
  g_nodes.Clear();
  g_last_id = 0;
  PutPayload(hot, ControlKind::kForget, 0,
             static_cast<uint32_t>(ControlKind::kStackDef), nullptr, 0);
}

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

// The frames' nodes from the outermost on; `cut`: there are more. 0 when one
// found no room in the ring or the ids became void under way.
uint32_t InternFrames(HotState& hot, uint32_t depth, bool cut) {
  uint32_t id = 0;
  if (cut && (id = InternNode(hot, Node{0, kDeeperFrames, 0, 0})) == 0) {
    return 0;
  }
  while (depth > 0) {
    const PymemrunFrame* frame = g_tables->frames[--depth];
    PyCodeObject* code = PymemrunFrameCode(frame);
    const SiteId site = CodeRegistry::FindCode(hot, code, frame);
    if (site.id == 0 || g_code_generation != CodeRegistry::generation()) {
      return 0;
    }
    const uint32_t next =
        InternNode(hot, Node{id, site.id, PymemrunFramePosition(frame), 0});
    if (next == 0) return 0;
    id = next;
  }
  return id;
}

}  // namespace

bool StackWalk::Create() {
  void* memory = OwnMemory::Map(sizeof(Tables));
  if (memory == nullptr) return false;
  g_tables = static_cast<Tables*>(memory);
  g_nodes.Use(g_tables->nodes);
  return true;
}

uint32_t StackWalk::Intern(HotState& hot, const PymemrunFrame* frame) {
  uint32_t depth = 0;
  for (; frame != nullptr && depth < kMaxStackDepth;
       frame = PymemrunFrameBack(frame)) {
    g_tables->frames[depth++] = frame;
  }
  const bool cut = frame != nullptr;
  // The stack must fit without the table being emptied half way.
  if (g_nodes.used() + depth + 1 >= g_nodes.kMaxUsed ||
      g_code_generation != CodeRegistry::generation()) {
    ForgetAll(hot);
  }
  const uint32_t id = InternFrames(hot, depth, cut);
  if (g_code_generation == CodeRegistry::generation()) return id;
  // The table of code objects was full: now there is room for these.
  ForgetAll(hot);
  return InternFrames(hot, depth, cut);
}

uint32_t StackWalk::Child(HotState& hot, uint32_t parent,
                          const PymemrunFrame* frame) {
  if (g_nodes.used() + 1 >= g_nodes.kMaxUsed ||
      g_code_generation != CodeRegistry::generation()) {
    return 0;
  }
  const SiteId site = CodeOf(hot, PymemrunFrameCode(frame), frame);
  if (site.id == 0 || g_code_generation != CodeRegistry::generation()) {
    return 0;
  }
  return InternNode(hot,
                    Node{parent, site.id, PymemrunFramePosition(frame), 0});
}

uint32_t StackWalk::generation() { return g_generation; }

}  // namespace pymemrun
