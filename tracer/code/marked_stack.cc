#include "tracer/code/marked_stack.h"

#include "tracer/base/own_memory.h"
#include "tracer/base/pointer_table.h"
#include "tracer/code/stack_nodes.h"

#ifdef PYMEMRUN_FRAME_MARKS
namespace pymemrun {
namespace {

// Number of levels. Frames with the same hash replace each other. A stack that
// lost some is followed further, and gets them back at once.
constexpr uint32_t kLevelBits = 13;
// Most frames that get ids in one walk: those of a cut stack, and the
// kStackBlock below. In that lower block only the ids for the cut of the next
// block can be known.
constexpr uint32_t kMaxWalked = kMaxStackDepth + kStackBlock;
// The id of a stack that is not known, see kMaxWalked.
constexpr uint32_t kUnknown = ~0u;
// Bits of Tables::walked that hold an Awaited: frames are aligned.
constexpr uintptr_t kAwaited = 3;

}  // namespace

// Facts of a frame, valid while its mark is. Levels belong to frames of all
// threads and greenlets, so switching between them loses nothing.
struct alignas(64) MarkedStack::Level {
  const PymemrunFrame* frame;  // null: empty
  const void* instruction;     // its instruction at the last look
  FrameMark mark;
  // Ids of the stack without this frame, and with it. Each has two variants:
  // cut for this depth, and cut for frames of the next block (kStackBlock),
  // whose stacks start with this block. next_stack is 0 until it is needed.
  uint32_t parent;
  uint32_t next_parent;
  uint32_t stack;
  uint32_t next_stack;
  uint32_t depth;  // number of frames below it
};

struct MarkedStack::Tables {
  Level levels[1u << kLevelBits];
  RecentChildren recent;
  // Walked frames; the last bits say what they await.
  uintptr_t walked[kMaxWalked];
};

inline MarkedStack::Level& MarkedStack::LevelFor(
    const PymemrunFrame* frame) const {
  static_assert(sizeof(Level) == 64);
  return tables_->levels[HashAddress(frame) >> (64 - kLevelBits)];
}

// State of a walk from `top` down.
struct MarkedStack::Walk {
  const PymemrunFrame* top;
  // Marks of kHeard and kLooping from this serial on are valid; and whether
  // frames may get such marks.
  uint64_t heard_from;
  bool may_hear;
  const PymemrunFrame* leaving;  // is not marked kHeard; or null
  // Result: the first valid level or null, and the number of frames above it.
  Level* base;
  uint32_t count;
};

// Whether the level is that of this frame, and its mark is still there and
// valid.
inline bool MarkedStack::Stands(const Walk& walk, const Level& level,
                                const PymemrunFrame* frame,
                                Awaited awaited) const {
  return level.frame == frame && level.mark.serial() >= valid_from_ &&
         level.mark.Stands(frame, awaited, walk.heard_from);
}

// Walks down until a frame has a valid mark: everything below it is unchanged.
// So the cost depends on the number of new frames, not on the depth.
[[gnu::always_inline]] inline void MarkedStack::Follow(Walk* walk) {
  walk->base = nullptr;
  walk->count = 0;
  Awaited awaited = Awaited::kNothing;
  for (const PymemrunFrame* frame = walk->top; frame != nullptr;
       frame = PymemrunFramePrevious(frame)) {
    ++frames_seen_;
    if (PymemrunFrameRuns(frame)) {
      Level& level = LevelFor(frame);
      if (Stands(*walk, level, frame, awaited)) {
        walk->base = &level;
        return;
      }
      if (walk->count < kMaxWalked) {
        tables_->walked[walk->count] = reinterpret_cast<uintptr_t>(frame) |
                                       static_cast<uintptr_t>(awaited);
      }
      ++walk->count;
    }
    awaited = AwaitedBelow(frame);
  }
}

// RecentChildren::Of(); a frame called from an unknown stack has an unknown
// stack.
inline uint32_t MarkedStack::Child(HotState& hot, uint32_t parent,
                                   const PymemrunFrame* frame) {
  return parent == kUnknown ? kUnknown
                            : tables_->recent.Of(hot, nodes_, parent, frame);
}

// Updates a level whose frame may be at another instruction. Returns false if
// the ring had no room.
bool MarkedStack::Update(HotState& hot, Level* level) {
  const void* instruction = PymemrunFrameInstruction(level->frame);
  if (level->instruction == instruction) return true;
  level->stack = Child(hot, level->parent, level->frame);
  level->next_stack = level->depth < kStackBlock ? level->stack : 0;
  level->instruction = instruction;
  if (level->stack != 0) return true;
  level->frame = nullptr;
  return false;
}

// Updates the level of a caller, which also needs next_stack. Returns false if
// the ring had no room.
inline bool MarkedStack::UpdateCaller(HotState& hot, Level* level) {
  if (!Update(hot, level)) return false;
  if (level->next_stack == 0) {
    level->next_stack = Child(hot, level->next_parent, level->frame);
  }
  return level->next_stack != 0;
}

// Marks the frame and stores its level.
inline void MarkedStack::Keep(const Walk& walk, const Level& level,
                              Awaited awaited) {
  FrameMark mark;
  Level& kept = LevelFor(level.frame);
  const bool may_hear = walk.may_hear && level.frame != walk.leaving;
  // Frames deeper than a cut stack have no known ids.
  if (level.stack != kUnknown && mark.Put(level.frame, awaited, may_hear)) {
    kept = level;
    kept.mark = mark;
  } else if (kept.frame == level.frame) {
    kept.frame = nullptr;
  }
}

// Moves `level` up to the next walked frame. Returns false if the ring had no
// room.
inline bool MarkedStack::Climb(HotState& hot, const Walk& walk, uint32_t at,
                               Level* level) {
  const uintptr_t walked = tables_->walked[at];
  level->frame = reinterpret_cast<const PymemrunFrame*>(walked & ~kAwaited);
  level->instruction = PymemrunFrameInstruction(level->frame);
  level->parent = level->stack;
  level->next_parent = level->next_stack;
  if (level->depth != 0 && level->depth % kStackBlock == 0) {
    level->parent = level->next_stack;
    level->next_parent = nodes_.Deeper(hot);
    if (level->next_parent == 0) return false;
  }
  level->stack = Child(hot, level->parent, level->frame);
  level->next_stack = level->stack;
  if (level->depth >= kStackBlock) {
    level->next_stack =
        at == 0 ? 0 : Child(hot, level->next_parent, level->frame);
    if (at != 0 && level->next_stack == 0) return false;
  }
  if (level->stack == 0) return false;
  Keep(walk, *level, static_cast<Awaited>(walked & kAwaited));
  return true;
}

// Returns the id of the stack: gives ids to all walked frames, from the lowest
// up. Returns 0 if the ring had no room.
[[gnu::always_inline]] inline uint32_t MarkedStack::Extend(HotState& hot,
                                                           const Walk& walk) {
  Level level = {};
  if (walk.base != nullptr) {
    const bool done =
        walk.count == 0 ? Update(hot, walk.base) : UpdateCaller(hot, walk.base);
    if (!done) return 0;
    level = *walk.base;
    ++level.depth;
  }
  uint32_t count = walk.count;
  depth_ = level.depth + count;
  if (count > kMaxWalked) {
    const uint32_t depth = level.depth + count - 1;
    level.depth = static_cast<uint32_t>(FirstKept(depth)) - kStackBlock;
    level.stack = level.next_stack = kUnknown;
    count = depth - level.depth + 1;
  }
  while (count > 0) {
    if (!Climb(hot, walk, --count, &level)) return 0;
    ++level.depth;
  }
  return level.stack;
}

void MarkedStack::ForgetLast(HotState& hot) {
  // An address that is no frame and not null, so IsLast() is false.
  alignas(8) static const char none[PYMEMRUN_FRAME_HEAD_BYTES] = {};
  hot.last_stack.frame = reinterpret_cast<const PymemrunFrame*>(none);
}

void MarkedStack::NodesForgotten(HotState& hot) {
  ForgetLast(hot);
  tables_->recent.Clear();
  valid_from_ = FrameMark::next_serial();
}

inline void MarkedStack::ForgetNodes(HotState& hot) {
  nodes_.Forget(hot);
  NodesForgotten(hot);
}

bool MarkedStack::Create(HotState& hot) {
  ForgetLast(hot);
  tables_ = static_cast<Tables*>(OwnMemory::MapTold(sizeof(Tables)));
  if (tables_ == nullptr) return false;
  OwnMemory::Wrote(&tables_->recent, sizeof(tables_->recent));
  // In a forked child, old levels of the parent may still be in the table.
  // Their marks are below valid_from_.
  valid_from_ = FrameMark::next_serial();
  return true;
}

void MarkedStack::CodeDied() {
  // Levels stay valid: a frame with a valid mark keeps its code object alive.
  if (tables_ != nullptr) tables_->recent.Clear();
}

// A generator that raises puts no result above the stack of the frame that
// waits for it. So the mark of that frame stays, and its level is removed here.
void MarkedStack::Unwinds(const PymemrunFrame* frame) {
  if (tables_ == nullptr || AwaitedBelow(frame) != Awaited::kGenerator) return;
  const PymemrunFrame* const waits = PymemrunFramePrevious(frame);
  Level& level = LevelFor(waits);
  if (level.frame == waits) level.frame = nullptr;
}

// The frame's mark is valid, so at most its instruction differs from the last
// request.
uint32_t MarkedStack::FindMoved(HotState& hot, const PymemrunFrame* top) {
  Level& level = LevelFor(top);
  ++frames_seen_;
  // Another frame may have replaced this level.
  if (level.frame != top || level.mark.state() != hot.last_stack.state ||
      !nodes_.Fit(2) || !Update(hot, &level)) {
    return Find(hot, top, kNoEvent);
  }
  hot.last_stack.instruction = level.instruction;
  hot.last_stack.stack = level.stack;
  return level.stack;
}

// Follows, then gives ids to new frames. If the tables of ids are full or void,
// forgets all of them and tries again.
uint32_t MarkedStack::Find(HotState& hot, const PymemrunFrame* top,
                           Event event) {
  ForgetLast(hot);
  const PyThreadState* tstate = PymemrunGilHolder();
  const bool hears = Hears(hook_, tstate);
  Walk walk = {top,
               hears || by_allocations_ ? heard_from_ : ~uint64_t{0},
               by_allocations_ ||
                   (hears && (event != kNoEvent || IsProfiledNow(tstate))),
               event == kLeaves ? top : nullptr,
               nullptr,
               0};
  for (int tries = 0; tries < 3; ++tries) {
    Follow(&walk);
    if (walk.base == nullptr && walk.count == 0) return 0;
    const uint32_t more = walk.count < kMaxWalked ? walk.count : kMaxWalked;
    if (nodes_.Fit(2 * more + 8)) {
      const uint32_t stack = Extend(hot, walk);
      if (stack != 0) {
        const Level& level = LevelFor(top);
        if (level.frame == top && level.mark.is_running()) {
          hot.last_stack = {top, level.mark.state(), level.instruction, stack};
        }
        return stack;
      }
      if (nodes_.Fit(0)) {  // the ring had no room
        EventsMissed();     // levels of walked frames may be old ones
        return 0;
      }
    }
    ForgetNodes(hot);
  }
  return 0;
}

}  // namespace pymemrun
#endif  // PYMEMRUN_FRAME_MARKS
