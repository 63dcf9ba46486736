// CurrentStack by marks in frames: follows a stack from the top to the first
// frame with a valid mark, at any depth, on any thread.
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

  // Makes and touches the tables. Returns false with errno set on failure.
  bool Create(HotState& hot);

  // Whether hot.last_stack belongs to this frame: its mark is valid, so the
  // frame was not left. It may be at another instruction.
  static bool IsLast(const HotState& hot, const PymemrunFrame* top) {
    const LastStack& last = hot.last_stack;
    return __builtin_expect(top == last.frame && FrameState(top) == last.state,
                            1);
  }
  static void ForgetLast(HotState& hot);
  // Returns the id of the stack whose innermost frame is `top`, of this thread.
  // Returns 0 if no frame runs Python code, or if the ring had no room for a
  // definition.
  uint32_t Of(HotState& hot, const PymemrunFrame* top) {
    return IsLast(hot, top) ? FindMoved(hot, top) : Find(hot, top, kNoEvent);
  }
  // The same for an event of the frame, inside our hook. `leaves`: the frame is
  // about to be left.
  uint32_t AtEvent(HotState& hot, const PymemrunFrame* frame, bool leaves) {
    return Find(hot, frame, leaves ? kLeaves : kStays);
  }

  // A code object is destroyed: its address and those of its instructions may
  // be reused.
  void CodeDied();
  // All ids of stacks are void from now on.
  void NodesForgotten(HotState& hot);
  // Number of frames below the one last given to Of() or AtEvent(), as far as
  // they were looked at.
  uint32_t depth() const { return depth_; }
  // From now on events of `hook` report each call on the threads that have it,
  // from CPython 3.12 on by Unwinds(). EventsMissed() reports gaps.
  void HeardBy(PymemrunHook hook) { hook_ = hook; }
  // Whether each allocation calls Of(), including those for the traceback that
  // an exception gets in each frame it enters.
  void AskedByAllocations(bool each) { by_allocations_ = each && !kHasSpare; }
  // An exception leaves the frame.
  void Unwinds(const PymemrunFrame* frame);
  void EventsMissed() { heard_from_ = FrameMark::next_serial(); }

  // Number of frames looked at so far by the slow paths.
  uint64_t frames_seen() const { return frames_seen_; }

 private:
  enum Event { kNoEvent, kStays, kLeaves };
  struct Level;
  struct Tables;
  struct Walk;
  uint32_t Find(HotState& hot, const PymemrunFrame* top, Event event);
  // The same for the last frame, which is at another instruction now.
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
  uint64_t valid_from_ = 0;  // serial of the first mark with valid ids
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
