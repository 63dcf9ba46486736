// Bounds the size of deep stacks in a report. Used by everything that writes
// stacks one by one.
#ifndef PYMEMRUN_READERS_RUN_FRAME_BUDGET_H_
#define PYMEMRUN_READERS_RUN_FRAME_BUDGET_H_

#include <algorithm>
#include <cstdint>

#include "format/records/stack_depths.h"

namespace pymemrun {

// A file has shared outer frames only once. Written one by one, ten thousand
// stacks of a few kilobytes could become gigabytes. So each stack may always
// take a few KiB, innermost frames first. What exceeds this is taken from a
// budget for all stacks, by default 256 MiB. Not thread safe.
class FrameBudget {
 public:
  static constexpr uint64_t kBytes = 256 << 20;
  static constexpr uint64_t kLeastBytes = 4096;  // of each stack

  explicit FrameBudget(uint64_t bytes = kBytes,
                       uint64_t least_bytes = kLeastBytes)
      : least_bytes_(least_bytes), left_(bytes) {}

  // To be called before the frames of each stack.
  void BeginStack() { stack_bytes_ = 0; }
  // Whether another frame of it may be written.
  bool HasRoom() const { return left_ > 0 || stack_bytes_ < least_bytes_; }
  // A frame of this size was written.
  void Take(uint64_t bytes) {
    stack_bytes_ += bytes;
    if (stack_bytes_ > least_bytes_) left_ -= std::min(left_, bytes);
  }
  // A whole stack was written again. Returns false if this used up the budget.
  bool TakeAgain(uint64_t stack_bytes) {
    if (stack_bytes <= least_bytes_ || left_ == 0) return true;
    left_ -= std::min(left_, stack_bytes - least_bytes_);
    return left_ > 0;
  }

 private:
  uint64_t least_bytes_;
  uint64_t left_;
  uint64_t stack_bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_FRAME_BUDGET_H_
