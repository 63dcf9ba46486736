#include "tracer/code/compared_stack.h"

#include "tracer/base/own_memory.h"
#include "tracer/code/marked_stack.h"
#include "tracer/code/stack_nodes.h"
#include "tracer/cpython/frame_mark.h"

namespace pymemrun {
namespace {

// Deeper stacks are looked up from scratch each time.
constexpr uint32_t kMaxLevels = kStackBlock;
// Up to this depth, comparing all frames is faster than following marks,
// measured with CPython 3.12.
constexpr uint32_t kShallow = 8;

// A frame of the last stack. Invariant: levels [0, depth_) are the outermost
// frames of the last stack, each with the id of the stack up to it. If the
// frame and instruction of a level are unchanged, and so are all levels before
// it, its id is still right.
struct Level {
  const PymemrunFrame* frame;
  const void* instruction;  // its instruction
  uint32_t stack;           // id of the stack from the outermost frame to this
};

}  // namespace

struct ComparedStack::Tables {
  Level levels[kMaxLevels];  // outermost first
  const PymemrunFrame* frames[kMaxStackDepth];
  RecentChildren recent;
};

// Collects the frames of the thread, innermost first. Returns their number, up
// to `limit`, which may be more than are stored.
inline uint32_t ComparedStack::Walk(const PymemrunFrame* frame,
                                    uint32_t limit) {
  uint32_t count = 0;
  for (; frame != nullptr && count < limit; frame = PymemrunFrameBack(frame)) {
    if (count < kMaxStackDepth) tables_->frames[count] = frame;
    ++count;
  }
  frames_seen_ += count;
  return count;
}

// Returns the number of levels, from the outermost on, that still match the
// `count` walked frames.
uint32_t ComparedStack::SameLevels(uint32_t count) const {
  uint32_t same = 0;
  while (same < depth_ && same < count) {
    const Level& level = tables_->levels[same];
    const PymemrunFrame* frame = tables_->frames[count - 1 - same];
    if (level.frame != frame ||
        level.instruction != PymemrunFrameInstruction(frame)) {
      break;
    }
    ++same;
  }
  return same;
}

// Returns the id of the stack of `count` frames, or 0 if the ring had no room.
// Only levels after the first difference are looked up.
uint32_t ComparedStack::Extend(HotState& hot, uint32_t count) {
  depth_ = SameLevels(count);
  uint32_t stack = depth_ == 0 ? 0 : tables_->levels[depth_ - 1].stack;
  while (depth_ < count) {
    const PymemrunFrame* frame = tables_->frames[count - 1 - depth_];
    stack = tables_->recent.Of(hot, nodes_, stack, frame);
    if (stack == 0) return 0;
    tables_->levels[depth_++] = {frame, PymemrunFrameInstruction(frame), stack};
  }
  return stack;
}

// The same for a stack that is too deep for levels. It is cut, under the node
// of deeper frames.
uint32_t ComparedStack::ExtendDeep(HotState& hot, uint32_t count) {
  depth_ = 0;
  uint32_t left = count - static_cast<uint32_t>(FirstKept(count - 1));
  uint32_t stack = 0;
  if (left < count && (stack = nodes_.Deeper(hot)) == 0) return 0;
  while (left > 0) {
    stack = tables_->recent.Of(hot, nodes_, stack, tables_->frames[--left]);
    if (stack == 0) return 0;
  }
  return stack;
}

bool ComparedStack::Create(HotState&) {
  tables_ = static_cast<Tables*>(OwnMemory::MapTold(sizeof(Tables)));
  if (tables_ == nullptr) return false;
  OwnMemory::Wrote(&tables_->recent, sizeof(tables_->recent));
  return true;
}

// Levels hold addresses of instructions, which another code object may get.
void ComparedStack::CodeDied() {
  if (tables_ == nullptr) return;
  depth_ = 0;
  tables_->recent.Clear();
}

// Returns the id of the stack of the `count` walked frames. If the tables of
// ids are full, forgets all ids and tries again.
inline uint32_t ComparedStack::StackOf(HotState& hot, uint32_t count) {
  if (count == 0) return 0;
  for (int tries = 0; tries < 3; ++tries) {
    const uint32_t kept = count < kMaxStackDepth ? count : kMaxStackDepth;
    if (nodes_.Fit(kept + 1)) {
      const uint32_t stack =
          count > kMaxLevels ? ExtendDeep(hot, count) : Extend(hot, count);
      if (stack != 0) return stack;
      if (nodes_.Fit(0)) return 0;  // the ring had no room
    }
    nodes_.Forget(hot);
    tables_->recent.Clear();
    depth_ = 0;
#ifdef PYMEMRUN_FRAME_MARKS
    MarkedStack::ForgetLast(hot);
#endif
  }
  return 0;
}

uint32_t ComparedStack::Of(HotState& hot, const PymemrunFrame* top) {
  return StackOf(hot, Walk(PymemrunFrameThatRuns(top), ~0u));
}

#ifdef PYMEMRUN_FRAME_MARKS
// Updates hot.last_stack if the innermost frame is the same and only its
// instruction has changed. Returns false otherwise, or if the ring had no room.
inline bool ComparedStack::Moved(HotState& hot, const PymemrunFrame* top) {
  if (!MarkedStack::IsLast(hot, top) || hot.last_stack.state != marked_state_ ||
      depth_ == 0 || tables_->levels[depth_ - 1].frame != top ||
      !nodes_.Fit(2)) {
    return false;
  }
  const uint32_t parent = depth_ == 1 ? 0 : tables_->levels[depth_ - 2].stack;
  const uint32_t stack = tables_->recent.Of(hot, nodes_, parent, top);
  if (stack == 0) return false;
  const void* instruction = PymemrunFrameInstruction(top);
  tables_->levels[depth_ - 1] = {top, instruction, stack};
  hot.last_stack.instruction = instruction;
  hot.last_stack.stack = stack;
  return true;
}

// Marks the frame on its second request, so that further ones hit the fast
// half. A mark for each request would cost more.
inline void ComparedStack::MarkIfAgain(HotState& hot, const PymemrunFrame* top,
                                       uint32_t stack) {
  if (top != last_top_ || stack == 0) {
    last_top_ = top;
    return;
  }
  FrameMark mark;
  if (tables_->levels[depth_ - 1].frame != top ||
      !mark.Put(top, Awaited::kNothing, /*heard=*/false)) {
    return;
  }
  marked_state_ = mark.state();
  hot.last_stack = {top, marked_state_, PymemrunFrameInstruction(top), stack};
}

uint32_t ComparedStack::OfShallow(HotState& hot, const PymemrunFrame* top) {
  if (Moved(hot, top)) return hot.last_stack.stack;
  const uint32_t count = Walk(PymemrunFrameThatRuns(top), kShallow + 1);
  if (count > kShallow) return kTooDeep;
  const uint32_t stack = StackOf(hot, count);
  MarkIfAgain(hot, top, stack);
  return stack;
}
#endif

}  // namespace pymemrun
