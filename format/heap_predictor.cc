#include "format/heap_predictor.h"

namespace pymemrun {

void HeapPredictor::Reset() {
  pools_.Reset();
  known_.fill(Known());
  order_.fill(0);
  stacks_.fill(0);
  sizes_.fill(0);
  steps_.fill(1);
  single_steps_.fill(1);
  big_.fill(0);
  last_of_.fill(0);
  lanes_.fill(0);
  last_stacks_.fill(0);
  last_sizes_.fill(0);
  last_steps_.fill(0);
  stack_key_ = size_key_ = steps_key_ = single_key_ = 0;
  number_ = freed_number_ = freed_next_ = 0;
  freed_ = 0;
  lane_ = 0;
}

void HeapPredictor::NoteStack(uint32_t stack) {
  last_stacks_ = {stack, last_stacks_[0], last_stacks_[1]};
  const auto& [last, second, third] = last_stacks_;
  stack_key_ =
      KeyOf(uint64_t{last} * 0xff51afd7 + uint64_t{second} * 0xc4ceb9 + third);
  size_key_ = KeyOf(uint64_t{stack} * 0xff51afd7 + last_sizes_[0] * 0xc4ceb9 +
                    last_sizes_[1]);
}

void HeapPredictor::NoteSize(uint64_t size) {
  last_sizes_ = {size, last_sizes_[0]};
}

HeapPredictor::Known* HeapPredictor::Claim(uint64_t address) {
  Known& known = known_[SlotOf(address)];
  const uint32_t tag = TagOf(address);
  if (known.tag != tag) known = {tag, number_, 0};
  return &known;
}

void HeapPredictor::NoteAllocated(uint64_t address, uint32_t size_class,
                                  uint64_t size) {
  last_of_[size_class] = address;
  if (size_class != 0) {
    pools_.Allocated(address, size_class);
  } else {
    big_[BigKey(size)] = address;
  }
  Claim(address)->number = number_;
  order_[number_++ & (kOrder - 1)] = address;
}

uint64_t HeapPredictor::Freed(FreeGuess guess) const {
  switch (guess) {
    case FreeGuess::kInOrder:
      return InOrder(steps_[steps_key_]);
    case FreeGuess::kInOrderOne:
      return InOrder(single_steps_[single_key_]);
    case FreeGuess::kAsBefore:
      return (freed_ >> 36 << 36) + (uint64_t{freed_next_} << 4);
    case FreeGuess::kNewest:
      return order_[(number_ - 1) & (kOrder - 1)];
    case FreeGuess::kStated:
      break;
  }
  return 0;
}

void HeapPredictor::NoteFreed(uint64_t address) {
  // The entry of the one before may have gone to another address since.
  Known* before = &known_[SlotOf(freed_)];
  if (before->tag == TagOf(freed_)) before->freed_next = TagOf(address);
  Known* known = &known_[SlotOf(address)];
  const bool is_known = known->tag == TagOf(address);
  if (is_known) {
    const auto step = static_cast<int32_t>(known->number - freed_number_);
    steps_[steps_key_] = step;
    single_steps_[single_key_] = step;
    last_steps_ = {step, last_steps_[0], last_steps_[1]};
    const auto at = [this](size_t i) {
      return uint64_t{static_cast<uint32_t>(last_steps_[i])};
    };
    single_key_ = KeyOf(at(0));
    steps_key_ = KeyOf(at(0) * 0xff51afd7 + at(1) * 0xc4ceb9 + at(2));
    freed_number_ = known->number;
    freed_next_ = known->freed_next;
  } else {
    *known = {TagOf(address), freed_number_, 0};
    freed_next_ = 0;
  }
  freed_ = address;
  lanes_[lane_++ & (kLanes - 1)] = address;
  pools_.Freed(address);
}

}  // namespace pymemrun
