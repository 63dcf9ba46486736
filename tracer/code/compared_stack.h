// CurrentStack by comparison, for all stacks or for shallow ones. The chain of
// frames is compared with the last stack: a caller may have continued while a
// new frame took the address of the old one. Frames that are unchanged keep
// their ids; usually only the innermost instruction has moved. The innermost
// frame is marked, if possible, on its second request. While the mark is valid,
// nothing is compared.
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
  // The same for a stack of few frames; kTooDeep for others.
  static constexpr uint32_t kTooDeep = ~0u;
  uint32_t OfShallow(HotState& hot, const PymemrunFrame* top);
#endif
  uint32_t AtEvent(HotState& hot, const PymemrunFrame* frame, bool) {
    return Of(hot, frame);
  }
  void CodeDied();
  // All ids of stacks are void from now on.
  void NodesForgotten() { CodeDied(); }
  // Events make no difference here.
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
  // Innermost frame of the last request.
  const PymemrunFrame* last_top_ = nullptr;
  uint64_t marked_state_ = 0;  // of the last marked frame
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_COMPARED_STACK_H_
