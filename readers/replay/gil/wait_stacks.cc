#include "readers/replay/gil/wait_stacks.h"

namespace pymemrun {

WaitStacks::Last& WaitStacks::LastOf(uint32_t thread) {
  if (thread >= last_.size()) last_.resize(thread + 1);
  return last_[thread];
}

// A wait stays open until the thread's next one: its stack may follow it in the
// file. A wait that starts where the last one ended continues it.
void WaitStacks::OnWait(uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                        GilWaitKind kind) {
  Last& last = LastOf(thread);
  const bool goes_on =
      !last.parts.empty() && last.end_ns == begin_ns && !last.is_told;
  if (!goes_on) {
    Close(thread, &last);
    if (last.next_ns == begin_ns) last.stack = last.next_stack;
  }
  last.end_ns = end_ns;
  last.waits += kind != GilWaitKind::kGivesWay;
}

void WaitStacks::OnCharge(uint32_t thread, uint32_t holder,
                          const GilPlace& place, uint64_t ns) {
  if (ns > 0) LastOf(thread).parts.push_back({holder, place, ns});
}

// The stack belongs to the wait that ended at that time, or else to the one
// that starts then.
void WaitStacks::OnWaiterStack(uint32_t thread, uint64_t time_ns,
                               uint32_t stack) {
  Last& last = LastOf(thread);
  if (!last.parts.empty() && last.end_ns == time_ns && !last.is_told) {
    last.stack = stack;
    last.is_told = true;
  } else {
    last.next_ns = time_ns;
    last.next_stack = stack;
  }
}

// Adds the wait to the sums. Without a stack it was too short for one, or its
// stack was lost.
void WaitStacks::Close(uint32_t thread, Last* last) {
  uint64_t all_ns = 0;
  for (const Part& part : last->parts) all_ns += part.ns;
  uint32_t stack = last->stack;
  if (stack == 0 && all_ns < min_wait_ns()) stack = kShort;
  if (by_ == WaitsBy::kWaiter) {
    if (all_ns > 0 || last->waits > 0) {
      Sum& sum = sums_[{thread, stack, 0, {}}];
      sum.ns += all_ns;
      sum.waits += last->waits;
    }
  } else {
    if (by_ == WaitsBy::kHolder) stack = 0;
    for (const Part& part : last->parts) {
      Sum& sum = sums_[{thread, stack, part.holder, part.place}];
      sum.ns += part.ns;
      ++sum.waits;
    }
  }
  last->parts.clear();
  last->stack = 0;
  last->waits = 0;
  last->is_told = false;
}

void WaitStacks::Finish() {
  GilReplay::Finish();
  for (uint32_t thread = 0; thread < last_.size(); ++thread) {
    Close(thread, &last_[thread]);
  }
  last_.clear();
}

}  // namespace pymemrun
