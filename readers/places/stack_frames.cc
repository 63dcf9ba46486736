#include "readers/places/stack_frames.h"

namespace pymemrun {
namespace {

// Bytes for a number in memory and in a file.
constexpr uint64_t kNumberBytes = 16;

}  // namespace

// Stacks share their callers' frames, so most frames are found by the stack's
// id.
uint32_t StackFrames::NumberOf(uint32_t stack) {
  const auto [known, is_new_stack] = by_stack_.emplace(stack, 0);
  if (!is_new_stack) return known->second;
  Frame frame;
  const SourceLocation where = index_.ResolveStack(stack);
  frame.place = PlaceOf(GroupBy::kLine, where);
  frame.qualname = where.qualname;
  frame.first_line = where.first_line;
  return known->second = NumberOf(frame);
}

uint32_t StackFrames::NumberOf(const Frame& frame) {
  const uint32_t number = numbers_.NumberOf(frame.place);
  if (number == frames_.size()) frames_.push_back(frame);
  return number;
}

std::vector<uint32_t> StackFrames::Of(uint32_t stack) {
  std::vector<uint32_t> numbers = {NumberOf(stack)};
  budget_.BeginStack();
  for (uint32_t at = index_.ParentStack(stack); at != 0;
       at = index_.ParentStack(at)) {
    if (!budget_.HasRoom()) {
      Frame deeper;
      deeper.place.function = deeper.qualname = kDeeperFramesName;
      numbers.push_back(NumberOf(deeper));
      break;
    }
    numbers.push_back(NumberOf(at));
    budget_.Take(kNumberBytes);
  }
  return numbers;
}

}  // namespace pymemrun
