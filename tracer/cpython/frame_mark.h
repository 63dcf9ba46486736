// Marks in the frames of CPython 3.11 to 3.13 that tell whether a frame is
// still the same call: where it is, its callers have not moved.
//
// A frame is marked in words that the interpreter writes before it reads them:
//
// - kRunning. While a frame runs, or C code runs that it called, its stack
//   pointer is in a register, and the field for it says -1. Readers take any
//   negative value as -1. Each call, resumption, return and yield of the frame
//   sets the field anew.
// - kCalling. A frame that waits for a Python function that runs in the same
//   evaluation loop has its stack pointer in that field, and the word there is
//   free: the result will be put there. The call before it put its callable, or
//   its container, or what it sends to a generator, into that word. So an odd
//   number in it is this call's.
// - kLooping, from 3.12 on. A frame that waits for a generator in a `for` has
//   that free word, too. What the generator yields or returns will be put
//   there. But nothing was put there before, and nothing will be if the
//   generator raises. These marks hold only as long as all such exceptions are
//   heard, and MarkedStack forgets the frame with each.
// - kHeard, up to 3.11. Where a profile or trace function heard of the call
//   the field keeps, while the frame runs, what it was set to then; and it may
//   yet be read. These marks are in two bytes that CPython does not use, and
//   our hook clears them with each event of the frame. They hold only as long
//   as the hook hears all calls. (ToldCalls uses these bytes
//   too.) From 3.12 on only the innermost frame can be in that state.
//
// GIL held. Nothing of it is visible to the program; a frame that is copied is
// not running, and the words above its stack pointer are not copied.
#ifndef PYMEMRUN_TRACER_CPYTHON_FRAME_MARK_H_
#define PYMEMRUN_TRACER_CPYTHON_FRAME_MARK_H_

#include "tracer/cpython/frame_state.h"

#ifdef PYMEMRUN_FRAME_MARKS

#include <cstdint>

namespace pymemrun {

class FrameMark {
 public:
  // Puts a mark into the frame, which waits for `awaited`; false where it
  // cannot have one now. `heard`: the hook heard its call, and hears what comes
  // after it; from 3.12 on, exceptions that enter a frame that waits are heard.
  bool Put(const PymemrunFrame* frame, Awaited awaited, bool heard) {
    const uint64_t now = FrameState(frame);
    const auto stack_top = static_cast<int32_t>(now);
    serial_ = ++last_serial_;
    if (awaited != Awaited::kNothing) {
      kind_ = HasWrittenSlot(frame, awaited) ? kCalling : kLooping;
      if (!IsFreeSlot(frame, stack_top) || (kind_ == kLooping && !heard)) {
        return false;
      }
      state_ = now;
      Slot(frame) = SlotTag();
      return true;
    }
    if (stack_top < 0) {
      kind_ = kRunning;
      // From -2 on downwards.
      const uint32_t tag = ~(static_cast<uint32_t>(serial_ & 0x3fffffff) + 1);
      state_ = (now & ~uint64_t{0xffffffff}) | tag;
    } else if (kHasSpare && heard && FrameSpare(frame) != kToldOfCall) {
      kind_ = kHeard;
      const uint64_t tag = (serial_ & (kHeardBit - 1)) | kHeardBit;
      state_ = (now & kAllButSpare) | tag << kSpareShift;
    } else {
      return false;
    }
    FrameState(frame) = state_;
    return true;
  }

  // Whether the frame is in the call that it was in at Put(). `heard_from`:
  // marks of kHeard and kLooping with earlier serials do not count.
  bool Stands(const PymemrunFrame* frame, Awaited awaited,
              uint64_t heard_from) const {
    if (FrameState(frame) != state_) return false;
    switch (kind_) {
      case kRunning:
        return true;
      case kCalling:
        return awaited != Awaited::kNothing && Slot(frame) == SlotTag();
      case kLooping:
        return awaited == Awaited::kGenerator && Slot(frame) == SlotTag() &&
               serial_ >= heard_from;
      case kHeard:
        return awaited == Awaited::kNothing && serial_ >= heard_from;
    }
    return false;
  }

  bool is_running() const { return kind_ == kRunning; }
  uint64_t state() const { return state_; }
  uint64_t serial() const { return serial_; }
  // Marks from here on have this serial or a later one.
  static uint64_t next_serial() { return last_serial_ + 1; }

 private:
  enum Kind : uint32_t { kRunning, kCalling, kLooping, kHeard };

  // The word above the stack of a frame that waits.
  static uint64_t& Slot(const PymemrunFrame* frame) {
    auto* bytes = reinterpret_cast<char*>(const_cast<PymemrunFrame*>(frame));
    return reinterpret_cast<uint64_t*>(
        bytes + PYMEMRUN_FRAME_LOCALS)[static_cast<int32_t>(FrameState(frame))];
  }
  static bool IsFreeSlot(const PymemrunFrame* frame, int32_t stack_top) {
    const PyCodeObject* code = PymemrunFrameCode(frame);
    const int32_t above = stack_top - code->co_nlocalsplus;
    return above >= 0 && above < code->co_stacksize;
  }
  // No address of an object.
  uint64_t SlotTag() const { return serial_ << 1 | 1; }

  static inline uint64_t last_serial_ = 0;

  uint64_t state_;
  uint64_t serial_;
  Kind kind_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FRAME_MARKS
#endif  // PYMEMRUN_TRACER_CPYTHON_FRAME_MARK_H_
