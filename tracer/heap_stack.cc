#include "tracer/heap_stack.h"

#include <string.h>

#include "tracer/own_memory.h"

namespace pymemrun {
namespace {

// Deeper stacks are interned whole each time.
constexpr uint32_t kMaxLevels = 2048;
constexpr uint32_t kRecent = 1u << 12;

// A place called from a stack, and the stack that this makes.
struct RecentChild {
  const void* instruction;  // null: none
  uint32_t parent;
  uint32_t stack;
};
static_assert(sizeof(RecentChild) == 16);

struct Tables {
  alignas(4096) RecentChild recent[kRecent];
  const PymemrunFrame* frames[kMaxLevels];
  bool any_recent;
};
Tables* g_tables = nullptr;

RecentChild& RecentFor(uint32_t parent, const void* instruction) {
  const uint64_t hash =
      (reinterpret_cast<uintptr_t>(instruction) ^ uint64_t{parent} << 40) *
      0x9E3779B97F4A7C15u;
  return g_tables->recent[hash >> 52];
}
static_assert(kRecent == 1u << (64 - 52));

}  // namespace

HeapStack::Level* HeapStack::g_levels = nullptr;
uint32_t HeapStack::g_depth = 0;
uint32_t HeapStack::g_generation = 0;

bool HeapStack::Create() {
  g_tables = static_cast<Tables*>(OwnMemory::Map(sizeof(Tables)));
  g_levels =
      static_cast<Level*>(OwnMemory::Map(kMaxLevels * sizeof(g_levels[0])));
  return g_tables != nullptr && g_levels != nullptr;
}

void HeapStack::CodeDied() {
  if (g_tables == nullptr || !g_tables->any_recent) return;
  g_depth = 0;
  g_tables->any_recent = false;
  memset(g_tables->recent, 0, sizeof(g_tables->recent));
}

// Appends `frame`, which was called from the innermost level.
uint32_t HeapStack::Extend(HotState& hot, const PymemrunFrame* frame) {
  const uint32_t parent = g_depth == 0 ? 0 : g_levels[g_depth - 1].stack;
  const void* instruction = PymemrunFrameInstruction(frame);
  RecentChild& recent = RecentFor(parent, instruction);
  if (recent.instruction != instruction || recent.parent != parent) {
    const uint32_t stack = StackWalk::Child(hot, parent, frame);
    if (stack == 0) return 0;
    recent = {instruction, parent, stack};
    g_tables->any_recent = true;
  }
  g_levels[g_depth++] = {frame, instruction, recent.stack, 0};
  return recent.stack;
}

// As Current(), where something has changed: finds where the frames meet what
// is kept, which is near the end as a rule, and goes on from there.
uint32_t HeapStack::Follow(HotState& hot, const PymemrunFrame* top) {
  constexpr uint32_t kNear = 16;
  const PymemrunFrame** frames = g_tables->frames;
  uint32_t count = 0;
  uint32_t kept = 0;  // levels below and with the one met
  for (const PymemrunFrame* frame = top;
       frame != nullptr && count < kNear && kept == 0;
       frame = PymemrunFrameBack(frame)) {
    for (uint32_t i = g_depth; i > 0 && g_depth - i < kNear; --i) {
      if (g_levels[i - 1].frame != frame) continue;
      kept = i;
      break;
    }
    frames[count++] = frame;
  }
  if (kept == 0) return Rebuild(hot, top);
  // The caller's frame has moved on, or is another by now: it is made anew.
  --kept;
  if (kept > 0) {
    if (PymemrunFrameBack(frames[count - 1]) != g_levels[kept - 1].frame ||
        !Stands(&g_levels[kept - 1])) {
      return Rebuild(hot, top);
    }
  } else if (PymemrunFrameBack(frames[count - 1]) != nullptr) {
    return Rebuild(hot, top);
  }
  g_depth = kept;
  while (count > 0) {
    if (g_depth == kMaxLevels || Extend(hot, frames[--count]) == 0) {
      return Rebuild(hot, top);
    }
  }
  return g_levels[g_depth - 1].stack;
}

uint32_t HeapStack::Rebuild(HotState& hot, const PymemrunFrame* top) {
  if (g_generation != StackWalk::generation()) {
    g_generation = StackWalk::generation();
    g_depth = 0;
    memset(g_tables->recent, 0, sizeof(g_tables->recent));
  }
  uint32_t count = 0;
  const PymemrunFrame* frame = top;
  for (; frame != nullptr && count < kMaxLevels;
       frame = PymemrunFrameBack(frame)) {
    g_tables->frames[count++] = frame;
  }
  const uint32_t before = g_depth;
  g_depth = 0;
  bool whole = frame == nullptr;
  // What is as it was from the outermost level on.
  while (whole && count > 0 && g_depth < before &&
         g_levels[g_depth].frame == g_tables->frames[count - 1] &&
         g_levels[g_depth].instruction ==
             PymemrunFrameInstruction(g_tables->frames[count - 1])) {
    --count;
    ++g_depth;
  }
  while (whole && count > 0) {
    whole = Extend(hot, g_tables->frames[--count]) != 0;
  }
  if (whole) return g_levels[g_depth - 1].stack;
  g_depth = 0;
  return StackWalk::Intern(hot, top);
}

}  // namespace pymemrun
