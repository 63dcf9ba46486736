// With marks in the frames: CPython 3.11.
#include "tracer/current_stack.h"

#include "tracer/own_memory.h"
#include "tracer/pointer_table.h"
#include "tracer/recent_children.h"

namespace pymemrun {
namespace {

// What is known of a frame, as long as its mark stands. Of any chain of frames:
// threads and greenlets lose nothing when they take turns.
struct alignas(64) Level {
  const PymemrunFrame* frame;  // null: nothing
  const void* instruction;     // its last, when it was last looked at
  FrameMark mark;
  // Ids of the stack below the frame and of that down to it. Of both there are
  // two: where the cut is for this depth, and where it will be for frames of
  // the next block (kStackBlock), which begins with this block; of the latter 0
  // where nobody asked.
  uint32_t parent;
  uint32_t next_parent;
  uint32_t stack;
  uint32_t next_stack;
  uint32_t depth;  // number of frames below it
};
static_assert(sizeof(Level) == 64);

// Levels push each other out. A stack that loses some is followed further down,
// and gets them back at once.
constexpr uint32_t kLevelBits = 13;
// Frames from the innermost on whose ids are found together: a cut stack's, and
// one block more, of which only the ids for the next one can be known.
constexpr uint32_t kMaxWalked = kMaxStackDepth + kStackBlock;
constexpr uint32_t kUnknown = ~0u;

struct Tables {
  Level levels[1u << kLevelBits];
  RecentChildren recent;
  // The last bit says whether the frame waits for one that the same evaluation
  // runs.
  uintptr_t walked[kMaxWalked];
};
Tables* g_tables = nullptr;

uint64_t g_valid_from = 0;  // serial of the first mark whose ids are not void
uint64_t g_heard_from = 0;  // serial of the first mark of kHeard that counts
PymemrunHook g_hook = nullptr;
uint64_t g_frames_seen = 0;

// What g_last has where there is nothing.
const PymemrunFrame* NoFrame() {
  alignas(8) static const char none[PYMEMRUN_FRAME_HEAD_BYTES] = {};
  return reinterpret_cast<const PymemrunFrame*>(none);
}

Level& LevelFor(const PymemrunFrame* frame) {
  return g_tables->levels[HashAddress(frame) >> (64 - kLevelBits)];
}

// One look at the frames, from `top` down.
struct Walk {
  const PymemrunFrame* top;
  // Which marks of kHeard count; and whether frames may be marked so.
  uint64_t heard_from;
  bool may_hear;
  const PymemrunFrame* leaving;  // is not marked so; or null
  // Found: the first level that stands, or null, and how many frames lie above.
  Level* base;
  uint32_t count;
};

bool Stands(const Walk& walk, const Level& level, const PymemrunFrame* frame,
            bool inlined) {
  return level.frame == frame && level.mark.serial() >= g_valid_from &&
         level.mark.Stands(frame, inlined, walk.heard_from);
}

void Follow(Walk* walk) {
  walk->base = nullptr;
  walk->count = 0;
  bool inlined = false;
  for (const PymemrunFrame* frame = walk->top; frame != nullptr;
       frame = PymemrunFramePrevious(frame)) {
    ++g_frames_seen;
    if (PymemrunFrameRuns(frame)) {
      Level& level = LevelFor(frame);
      if (Stands(*walk, level, frame, inlined)) {
        walk->base = &level;
        return;
      }
      if (walk->count < kMaxWalked) {
        g_tables->walked[walk->count] = reinterpret_cast<uintptr_t>(frame) |
                                        static_cast<uintptr_t>(inlined);
      }
      ++walk->count;
    }
    inlined = !IsEnteredFromC(frame);
  }
}

// As RecentChildren::Of; what is called from the unknown is unknown.
uint32_t Child(HotState& hot, uint32_t parent, const PymemrunFrame* frame) {
  return parent == kUnknown ? kUnknown
                            : g_tables->recent.Of(hot, parent, frame);
}

// The frame may have gone on since. Returns false where there was no room.
bool Update(HotState& hot, Level* level) {
  const void* instruction = PymemrunFrameInstruction(level->frame);
  if (level->instruction == instruction) return true;
  level->stack = Child(hot, level->parent, level->frame);
  level->next_stack = level->depth < kStackBlock ? level->stack : 0;
  level->instruction = instruction;
  if (level->stack != 0) return true;
  level->frame = nullptr;
  return false;
}

// Its frame is a caller. Returns false where there was no room.
bool UpdateCaller(HotState& hot, Level* level) {
  if (!Update(hot, level)) return false;
  if (level->next_stack == 0) {
    level->next_stack = Child(hot, level->next_parent, level->frame);
  }
  return level->next_stack != 0;
}

// Marks the frame of the level, and keeps what is known of it.
void Keep(const Walk& walk, const Level& level, bool inlined) {
  FrameMark mark;
  Level& kept = LevelFor(level.frame);
  const bool may_hear = walk.may_hear && level.frame != walk.leaving;
  // Of frames further down than a cut stack's not everything is known.
  if (level.stack != kUnknown && mark.Put(level.frame, inlined, may_hear)) {
    kept = level;
    kept.mark = mark;
  } else if (kept.frame == level.frame) {
    kept.frame = nullptr;
  }
}

// Makes `level`, which is of the frame below it or has none, that of the next
// walked frame. Returns false where there was no room.
bool Climb(HotState& hot, const Walk& walk, uint32_t at, Level* level) {
  const uintptr_t walked = g_tables->walked[at];
  level->frame = reinterpret_cast<const PymemrunFrame*>(walked & ~uintptr_t{1});
  level->instruction = PymemrunFrameInstruction(level->frame);
  level->parent = level->stack;
  level->next_parent = level->next_stack;
  if (level->depth != 0 && level->depth % kStackBlock == 0) {
    level->parent = level->next_stack;
    level->next_parent = StackNodes::Deeper(hot);
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
  Keep(walk, *level, (walked & 1) != 0);
  return true;
}

// The id of the stack of all that was walked, on top of what is known; 0 where
// there was no room.
uint32_t Extend(HotState& hot, const Walk& walk) {
  Level level = {};
  if (walk.base != nullptr) {
    const bool done =
        walk.count == 0 ? Update(hot, walk.base) : UpdateCaller(hot, walk.base);
    if (!done) return 0;
    level = *walk.base;
    ++level.depth;
  }
  uint32_t count = walk.count;
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

void ForgetNodes(HotState& hot) {
  StackNodes::Forget(hot);
  g_tables->recent.Clear();
  g_valid_from = FrameMark::next_serial();
}

}  // namespace

CurrentStack::Last CurrentStack::g_last = {NoFrame(), 0, nullptr, 0};

bool CurrentStack::Create() {
  g_tables = static_cast<Tables*>(OwnMemory::Map(sizeof(Tables)));
  return g_tables != nullptr;
}

void CurrentStack::CodeDied() {
  // Levels hold on: a frame whose mark stands keeps its code alive.
  if (g_tables != nullptr) g_tables->recent.Clear();
}

void CurrentStack::HeardBy(PymemrunHook hook) { g_hook = hook; }

void CurrentStack::EventsMissed() { g_heard_from = FrameMark::next_serial(); }

uint64_t CurrentStack::frames_seen() { return g_frames_seen; }

uint32_t CurrentStack::FindMoved(HotState& hot, const PymemrunFrame* top) {
  Level& level = LevelFor(top);
  ++g_frames_seen;
  // Another frame may have taken its level.
  if (level.frame != top || level.mark.state() != g_last.state ||
      !StackNodes::Fit(2) || !Update(hot, &level)) {
    return Find(hot, top, kNoEvent);
  }
  g_last.instruction = level.instruction;
  g_last.stack = level.stack;
  return level.stack;
}

uint32_t CurrentStack::Find(HotState& hot, const PymemrunFrame* top,
                            Event event) {
  g_last.frame = NoFrame();
  const PyThreadState* tstate = PymemrunGilHolder();
  const bool hears = g_hook != nullptr && tstate->c_profilefunc == g_hook;
  Walk walk = {top,
               hears ? g_heard_from : ~uint64_t{0},
               hears && (event != kNoEvent || IsProfiledNow(tstate)),
               event == kLeaves ? top : nullptr,
               nullptr,
               0};
  for (int tries = 0; tries < 3; ++tries) {
    Follow(&walk);
    if (walk.base == nullptr && walk.count == 0) return 0;
    const uint32_t more = walk.count < kMaxWalked ? walk.count : kMaxWalked;
    if (StackNodes::Fit(2 * more + 8)) {
      const uint32_t stack = Extend(hot, walk);
      if (stack != 0) {
        const Level& level = LevelFor(top);
        if (level.frame == top && level.mark.is_running()) {
          g_last = {top, level.mark.state(), level.instruction, stack};
        }
        return stack;
      }
      if (StackNodes::Fit(0)) return 0;  // the ring had no room
    }
    ForgetNodes(hot);
  }
  return 0;
}

}  // namespace pymemrun
