// CurrentStack by marks in the frames: stacks are followed from the top down to
// the first frame whose mark stands, whatever the depth, on any thread.
#ifndef PYMEMRUN_TRACER_CODE_MARKED_STACK_H_
#define PYMEMRUN_TRACER_CODE_MARKED_STACK_H_

#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/code/stack_nodes.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/frame_mark.h"

#ifdef PYMEMRUN_FRAME_MARKS
namespace pymemrun {

class MarkedStack {
 public:
  explicit constexpr MarkedStack(StackNodes& nodes) : nodes_(nodes) {}

  // Makes and touches the tables. Returns false with errno set.
  bool Create(HotState& hot);

  // Whether hot.last_stack is of this frame: its mark stands, the frame has not
  // been left. It may have gone on to another instruction.
  static bool IsLast(const HotState& hot, const PymemrunFrame* top) {
    const LastStack& last = hot.last_stack;
    return __builtin_expect(top == last.frame && FrameState(top) == last.state,
                            1);
  }
  static void ForgetLast(HotState& hot);
  // The id of the stack whose innermost frame is `top`, the thread's own. 0: no
  // frame of it runs Python code, or a definition found no room.
  uint32_t Of(HotState& hot, const PymemrunFrame* top) {
    return IsLast(hot, top) ? FindMoved(hot, top) : Find(hot, top, kNoEvent);
  }
  // The same for an event of the frame, within our hook. `leaves`: the frame
  // is about to be left.
  uint32_t AtEvent(HotState& hot, const PymemrunFrame* frame, bool leaves) {
    return Find(hot, frame, leaves ? kLeaves : kStays);
  }

  // A code object dies: its address, and those of its instructions, may become
  // another's.
  void CodeDied();
  // The ids of all stacks may be others' from now on.
  void NodesForgotten(HotState& hot);
  // How many frames lie below the one that Of() or AtEvent() was last given, as
  // far as it had to look.
  uint32_t depth() const { return depth_; }
  // From here on events of `hook` tell of each call on the threads that have
  // it, from 3.12 on by Unwinds(): what they do not tell of EventsMissed()
  // says.
  void HeardBy(PymemrunHook hook) { hook_ = hook; }
  // Whether each allocation asks Of(), among them that of the traceback which
  // an exception gets in each frame that it enters.
  void AskedByAllocations(bool each) { by_allocations_ = each && !kHasSpare; }
  // An exception leaves the frame.
  void Unwinds(const PymemrunFrame* frame);
  void EventsMissed() { heard_from_ = FrameMark::next_serial(); }

  // Frames looked at so far by what is not the fast half.
  uint64_t frames_seen() const { return frames_seen_; }

 private:
  enum Event { kNoEvent, kStays, kLeaves };
  struct Level;
  struct Tables;
  struct Walk;
  uint32_t Find(HotState& hot, const PymemrunFrame* top, Event event);
  // Of the last one, which has gone on to another instruction.
  uint32_t FindMoved(HotState& hot, const PymemrunFrame* top);
  Level& LevelFor(const PymemrunFrame* frame) const;
  bool Stands(const Walk& walk, const Level& level, const PymemrunFrame* frame,
              Awaited awaited) const;
  void Follow(Walk* walk);
  uint32_t Child(HotState& hot, uint32_t parent, const PymemrunFrame* frame);
  bool Update(HotState& hot, Level* level);
  bool UpdateCaller(HotState& hot, Level* level);
  void Keep(const Walk& walk, const Level& level, Awaited awaited);
  bool Climb(HotState& hot, const Walk& walk, uint32_t at, Level* level);
  uint32_t Extend(HotState& hot, const Walk& walk);
  void ForgetNodes(HotState& hot);

  StackNodes& nodes_;
  Tables* tables_ = nullptr;
  uint64_t valid_from_ = 0;  // serial of the first mark whose ids are not void
  // Serial of the first mark of kHeard or kLooping that counts.
  uint64_t heard_from_ = 0;
  PymemrunHook hook_ = nullptr;
  bool by_allocations_ = false;
  uint64_t frames_seen_ = 0;
  uint32_t depth_ = 0;
};

}  // namespace pymemrun
#endif  // PYMEMRUN_FRAME_MARKS

#endif  // PYMEMRUN_TRACER_CODE_MARKED_STACK_H_
