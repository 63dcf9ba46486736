#include "readers/stack_frames.h"

namespace pymemrun {

uint32_t StackFrames::NumberOf(uint32_t stack) {
  const auto [known, is_new_stack] = by_stack_.emplace(stack, 0);
  if (!is_new_stack) return known->second;
  Frame frame;
  frame.place = PlaceOfStack(ResidentBy::kLine, index_, stack);
  frame.first_line = index_.ResolveStack(stack).first_line;
  const auto next = static_cast<uint32_t>(frames_.size());
  const auto [found, is_new] = numbers_.emplace(frame.place, next);
  if (is_new) frames_.push_back(frame);
  return known->second = found->second;
}

std::vector<uint32_t> StackFrames::Of(uint32_t stack) {
  std::vector<uint32_t> numbers = {NumberOf(stack)};
  for (uint32_t at = index_.ParentStack(stack);
       at != 0 && numbers.size() < kMostFrames; at = index_.ParentStack(at)) {
    numbers.push_back(NumberOf(at));
  }
  return numbers;
}

}  // namespace pymemrun
