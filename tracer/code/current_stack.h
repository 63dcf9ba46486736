// The stack of the running thread, as an id of StackNodes. Its cost matters
// when each allocation or event needs a stack. Earlier results are kept and
// reused while the frames have not moved.
//
// There are two ways. ComparedStack compares the frames with those of the last
// stack. MarkedStack puts marks into frames (tracer/cpython/frame_mark.h) and
// follows the stack from the top to the first valid mark. Shallow stacks are
// compared, and so are stacks whose frames cannot be marked. All functions need
// the GIL; nothing allocates.
#ifndef PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_
#define PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_

#include "tracer/code/compared_stack.h"
#include "tracer/code/marked_stack.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

#ifdef PYMEMRUN_FRAME_MARKS
class CurrentStack final {
 public:
  explicit constexpr CurrentStack(StackNodes& nodes)
      : nodes_(nodes), marked_(nodes), compared_(nodes) {}

  // Makes and touches the tables. Returns false with errno set on failure.
  bool Create(HotState& hot) {
    return marked_.Create(hot) && compared_.Create(hot);
  }

  // Returns the id of the stack whose innermost frame is `top`, of this thread.
  // Returns 0 if no frame runs Python code, or if the ring had no room for a
  // definition.
  uint32_t Of(HotState& hot, const PymemrunFrame* top) {
    if (MarkedStack::IsLast(hot, top) &&
        PymemrunFrameInstruction(top) == hot.last_stack.instruction) {
      return hot.last_stack.stack;
    }
    uint32_t stack;
    if (way_ != kMarks && IsCompared(hot, top, &stack)) return stack;
    const uint64_t seen = marked_.frames_seen();
    stack = marked_.Of(hot, top);
    Judge(hot, marked_.frames_seen() - seen);
    return stack;
  }
  // The same for an event of the frame, inside our hook. `leaves`: the frame is
  // about to be left.
  uint32_t AtEvent(HotState& hot, const PymemrunFrame* frame, bool leaves) {
    uint32_t stack;
    if (way_ != kMarks && IsCompared(hot, frame, &stack)) return stack;
    const uint64_t seen = marked_.frames_seen();
    stack = marked_.AtEvent(hot, frame, leaves);
    Judge(hot, marked_.frames_seen() - seen);
    return stack;
  }

  // A code object is destroyed: its address and those of its instructions may
  // be reused.
  void CodeDied() {
    marked_.CodeDied();
    compared_.CodeDied();
  }
  // From now on events of `hook` report each call on the threads that have it.
  // EventsMissed() reports gaps.
  void HeardBy(PymemrunHook hook) { marked_.HeardBy(hook); }
  // Whether each allocation calls Of().
  void AskedByAllocations(bool each) { marked_.AskedByAllocations(each); }
  // An exception leaves the frame, for a hook of 3.12 or later.
  void Unwinds(const PymemrunFrame* frame) { marked_.Unwinds(frame); }
  void EventsMissed() { marked_.EventsMissed(); }

  // Number of frames looked at so far by the slow paths.
  uint64_t frames_seen() const {
    return marked_.frames_seen() + compared_.frames_seen();
  }

 private:
  // kShallow: shallow stacks are compared. kMarks: all stacks use marks. kAll:
  // all stacks are compared for a while.
  enum Way { kShallow, kMarks, kAll };
  // Depth below which shallow comparing starts again. Lower than the depth
  // where it stops, so that calls around that depth do not switch back and
  // forth.
  static constexpr uint32_t kShallowAgain = 5;
  // Detects stacks whose frames cannot be marked: at least kManyFrames frames
  // were looked at, kOften times in a row. Then kWhile stacks are compared.
  static constexpr uint64_t kManyFrames = 32;
  static constexpr uint32_t kOften = 4, kWhile = 64;

  bool IsCompared(HotState& hot, const PymemrunFrame* top, uint32_t* stack) {
    if (way_ == kAll) {
      *stack = compared_.Of(hot, top);
      if (--left_ == 0) Change(hot, kMarks);
      return true;
    }
    *stack = compared_.OfShallow(hot, top);
    if (__builtin_expect(*stack != ComparedStack::kTooDeep, 1)) return true;
    Change(hot, kMarks);
    return false;
  }
  // Chooses the way after marks were followed for `looked_at` frames.
  void Judge(HotState& hot, uint64_t looked_at) {
    if (marked_.depth() < kShallowAgain) Change(hot, kShallow);
    if (__builtin_expect(looked_at < kManyFrames, 1)) {
      if (looked_at != 0) times_many_ = 0;
    } else if (looked_at > marked_.depth() / 4 && ++times_many_ == kOften) {
      times_many_ = 0;
      left_ = kWhile;
      Change(hot, kAll);
    }
  }
  // Switches the way. Results of the other way stay valid if the ids do. Marks
  // missed all calls in the meantime.
  void Change(HotState& hot, Way way) {
    way_ = way;
    if (way == kMarks) marked_.EventsMissed();
    if (nodes_.times_forgotten() == times_forgotten_) return;
    times_forgotten_ = nodes_.times_forgotten();
    marked_.NodesForgotten(hot);
    compared_.NodesForgotten();
  }

  StackNodes& nodes_;
  MarkedStack marked_;
  ComparedStack compared_;
  Way way_ = kShallow;
  uint32_t times_many_ = 0;
  uint32_t left_ = 0;
  uint32_t times_forgotten_ = 0;
};
#else
class CurrentStack final : public ComparedStack {
 public:
  using ComparedStack::ComparedStack;
};
#endif

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_CURRENT_STACK_H_
