// CurrentStack by comparison, of all stacks or of shallow ones: the chain of
// frames is compared with that of the stack before, for a caller may have gone
// on while a frame like the old one was put in its place. What of it still
// stands keeps its ids, and usually only the innermost instruction has moved.
// The innermost frame is marked, where it can be, once it asks again: while the
// mark stands there is nothing to compare.
#ifndef PYMEMRUN_TRACER_CODE_COMPARED_STACK_H_
#define PYMEMRUN_TRACER_CODE_COMPARED_STACK_H_

#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/code/stack_nodes.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

// Its functions are those of CurrentStack.
class ComparedStack {
 public:
  explicit constexpr ComparedStack(StackNodes& nodes) : nodes_(nodes) {}

  bool Create(HotState& hot);
  uint32_t Of(HotState& hot, const PymemrunFrame* top);
#ifdef PYMEMRUN_FRAME_MARKS
  // The same of a stack of few frames; kTooDeep of another one.
  static constexpr uint32_t kTooDeep = ~0u;
  uint32_t OfShallow(HotState& hot, const PymemrunFrame* top);
#endif
  uint32_t AtEvent(HotState& hot, const PymemrunFrame* frame, bool) {
    return Of(hot, frame);
  }
  void CodeDied();
  // The ids of all stacks may be others' from now on.
  void NodesForgotten() { CodeDied(); }
  // Whether events are heard makes no difference here.
  void HeardBy(PymemrunHook) {}
  void AskedByAllocations(bool) {}
  void Unwinds(const PymemrunFrame*) {}
  void EventsMissed() {}
  uint64_t frames_seen() const { return frames_seen_; }

 private:
  struct Tables;
  uint32_t Walk(const PymemrunFrame* frame, uint32_t limit);
  uint32_t StackOf(HotState& hot, uint32_t count);
  uint32_t SameLevels(uint32_t count) const;
  uint32_t Extend(HotState& hot, uint32_t count);
  uint32_t ExtendDeep(HotState& hot, uint32_t count);
  bool Moved(HotState& hot, const PymemrunFrame* top);
  void MarkIfAgain(HotState& hot, const PymemrunFrame* top, uint32_t stack);

  StackNodes& nodes_;
  Tables* tables_ = nullptr;
  uint32_t depth_ = 0;  // levels in use
  uint64_t frames_seen_ = 0;
  const PymemrunFrame* last_top_ = nullptr;  // of a shallow stack
  uint64_t marked_state_ = 0;                // of the frame marked last
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_COMPARED_STACK_H_
