// By comparison: the chain of frames is compared with that of the stack before,
// for a caller may have gone on while a frame like the old one was put in its
// place. What of it still stands keeps its ids, and usually only the innermost
// instruction has moved.
#include "tracer/current_stack.h"
#include "tracer/own_memory.h"
#include "tracer/recent_children.h"

namespace pymemrun {
namespace {

// Deeper stacks are looked up whole each time.
constexpr uint32_t kMaxLevels = kStackBlock;

struct Level {
  const PymemrunFrame* frame;
  const void* instruction;  // the frame's last
  uint32_t stack;           // id of the stack down to here
};

struct Tables {
  Level levels[kMaxLevels];  // the outermost first
  const PymemrunFrame* frames[kMaxStackDepth];
  RecentChildren recent;
};
Tables* g_tables = nullptr;
uint32_t g_depth = 0;  // levels in use
uint64_t g_frames_seen = 0;

// The thread's frames, the innermost first; returns how many there are, which
// may be more than are kept.
uint32_t Walk(const PymemrunFrame* frame) {
  uint32_t count = 0;
  for (; frame != nullptr; frame = PymemrunFrameBack(frame)) {
    if (count < kMaxStackDepth) g_tables->frames[count] = frame;
    ++count;
  }
  g_frames_seen += count;
  return count;
}

// How many of the kept levels, from the outermost on, are still those of the
// `count` frames that were walked.
uint32_t SameLevels(uint32_t count) {
  uint32_t same = 0;
  while (same < g_depth && same < count) {
    const Level& level = g_tables->levels[same];
    const PymemrunFrame* frame = g_tables->frames[count - 1 - same];
    if (level.frame != frame ||
        level.instruction != PymemrunFrameInstruction(frame)) {
      break;
    }
    ++same;
  }
  return same;
}

// The id of the stack of `count` frames, 0 where there was no room.
uint32_t Extend(HotState& hot, uint32_t count) {
  g_depth = SameLevels(count);
  uint32_t stack = g_depth == 0 ? 0 : g_tables->levels[g_depth - 1].stack;
  while (g_depth < count) {
    const PymemrunFrame* frame = g_tables->frames[count - 1 - g_depth];
    stack = g_tables->recent.Of(hot, stack, frame);
    if (stack == 0) return 0;
    g_tables->levels[g_depth++] = {frame, PymemrunFrameInstruction(frame),
                                   stack};
  }
  return stack;
}

// The same of a deeper one.
uint32_t ExtendDeep(HotState& hot, uint32_t count) {
  g_depth = 0;
  uint32_t left = count - static_cast<uint32_t>(FirstKept(count - 1));
  uint32_t stack = 0;
  if (left < count && (stack = StackNodes::Deeper(hot)) == 0) return 0;
  while (left > 0) {
    stack = g_tables->recent.Of(hot, stack, g_tables->frames[--left]);
    if (stack == 0) return 0;
  }
  return stack;
}

}  // namespace

bool CurrentStack::Create() {
  g_tables = static_cast<Tables*>(OwnMemory::Map(sizeof(Tables)));
  return g_tables != nullptr;
}

void CurrentStack::CodeDied() {
  if (g_tables == nullptr) return;
  g_depth = 0;
  g_tables->recent.Clear();
}

void CurrentStack::HeardBy(PymemrunHook) {}
void CurrentStack::EventsMissed() {}
uint64_t CurrentStack::frames_seen() { return g_frames_seen; }

uint32_t CurrentStack::Find(HotState& hot, const PymemrunFrame* top, Event) {
  const uint32_t count = Walk(PymemrunFrameThatRuns(top));
  if (count == 0) return 0;
  for (int tries = 0; tries < 3; ++tries) {
    const uint32_t kept = count < kMaxStackDepth ? count : kMaxStackDepth;
    if (StackNodes::Fit(kept + 1)) {
      const uint32_t stack =
          count > kMaxLevels ? ExtendDeep(hot, count) : Extend(hot, count);
      if (stack != 0) return stack;
      if (StackNodes::Fit(0)) return 0;  // the ring had no room
    }
    StackNodes::Forget(hot);
    g_tables->recent.Clear();
    g_depth = 0;
  }
  return 0;
}

}  // namespace pymemrun
