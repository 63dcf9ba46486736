// The stack of the thread that runs, as an id of StackNodes': what costs when
// each allocation or event has one. What was found before is kept, and holds as
// long as the frames have not moved. A stack is compared with the one before.
// Where the interpreter's frames can be marked (tracer/cpython/frame_mark.h)
// this is for shallow ones, and those whose frames cannot: others are followed
// from the top down to the first frame whose mark stands. GIL held; nothing
// allocates.
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

  // Makes and touches the tables. Returns false with errno set.
  bool Create(HotState& hot) {
    return marked_.Create(hot) && compared_.Create(hot);
  }

  // The id of the stack whose innermost frame is `top`, the thread's own. 0: no
  // frame of it runs Python code, or a definition found no room.
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
  // The same for an event of the frame, within our hook. `leaves`: the frame
  // is about to be left.
  uint32_t AtEvent(HotState& hot, const PymemrunFrame* frame, bool leaves) {
    uint32_t stack;
    if (way_ != kMarks && IsCompared(hot, frame, &stack)) return stack;
    const uint64_t seen = marked_.frames_seen();
    stack = marked_.AtEvent(hot, frame, leaves);
    Judge(hot, marked_.frames_seen() - seen);
    return stack;
  }

  // A code object dies: its address, and those of its instructions, may become
  // another's.
  void CodeDied() {
    marked_.CodeDied();
    compared_.CodeDied();
  }
  // From here on events of `hook` tell of each call on the threads that have
  // it: what they do not tell of EventsMissed() says.
  void HeardBy(PymemrunHook hook) { marked_.HeardBy(hook); }
  // Whether each allocation asks Of().
  void AskedByAllocations(bool each) { marked_.AskedByAllocations(each); }
  // An exception leaves the frame, for a hook of 3.12 or later.
  void Unwinds(const PymemrunFrame* frame) { marked_.Unwinds(frame); }
  void EventsMissed() { marked_.EventsMissed(); }

  // Frames looked at so far by what is not the fast half.
  uint64_t frames_seen() const {
    return marked_.frames_seen() + compared_.frames_seen();
  }

 private:
  // Shallow stacks are compared, or all for a while.
  enum Way { kShallow, kMarks, kAll };
  // Fewer than what is too deep to be compared, so that calls and returns
  // around that depth change nothing.
  static constexpr uint32_t kShallowAgain = 5;
  // Most frames of a stack cannot be marked: so many were looked at, so often
  // in a row, and so many stacks are compared then.
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
  // After marks were followed for so many frames.
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
  // What the other way has found holds on, if the ids do. Marks did not hear
  // what was asked meanwhile.
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
