// What CPython 3.11 to 3.13 say of a frame beside its place: whether it runs or
// waits, and for what. See frame_mark.h.
#ifndef PYMEMRUN_TRACER_CPYTHON_FRAME_STATE_H_
#define PYMEMRUN_TRACER_CPYTHON_FRAME_STATE_H_

#include "tracer/cpython/compat.h"

#ifdef PYMEMRUN_FRAME_MARKS

#include <cstdint>

namespace pymemrun {

// Stack pointer (32 bits); up to 3.11 whether it was entered from C, owner, two
// bytes spare; from 3.12 on where it goes on after a call (16 bits), owner.
inline uint64_t& FrameState(const PymemrunFrame* frame) {
  auto* bytes = reinterpret_cast<char*>(const_cast<PymemrunFrame*>(frame));
  return *reinterpret_cast<uint64_t*>(bytes + PYMEMRUN_FRAME_STACKTOP);
}

// What a frame waits for within its evaluation loop.
enum class Awaited : uintptr_t {
  kNothing,    // it runs, or C code does that it called
  kCall,       // a Python function
  kGenerator,  // a generator or coroutine that it resumed; from 3.12 on
};

// What the frame below `frame` in the chain waits for.
inline Awaited AwaitedBelow(const PymemrunFrame* frame) {
#ifdef PYMEMRUN_FRAME_IS_ENTRY
  return PYMEMRUN_LOAD(char, frame, PYMEMRUN_FRAME_IS_ENTRY) != 0
             ? Awaited::kNothing
             : Awaited::kCall;
#else
  if (PymemrunFrameIsC(frame)) return Awaited::kNothing;
  return PYMEMRUN_LOAD(char, frame, PYMEMRUN_FRAME_OWNER) ==
                 PYMEMRUN_OWNED_BY_GENERATOR
             ? Awaited::kGenerator
             : Awaited::kCall;
#endif
}

// Whether the frame, which waits for that, has put something into the word
// above its stack since it went on last.
inline bool HasWrittenSlot(const PymemrunFrame* frame, Awaited awaited) {
#ifdef PYMEMRUN_SEND
  if (awaited != Awaited::kGenerator) return true;
  const uint8_t opcode = static_cast<const uint8_t*>(
      PymemrunFrameInstruction(frame))[2 * PYMEMRUN_SEND_UNIT];
  return opcode == PYMEMRUN_SEND || opcode == PYMEMRUN_SEND_GEN;
#else
  return true;
#endif
}

#ifdef PYMEMRUN_PROFILE_SLOTS
inline constexpr bool kHasSpare = true;
#else
inline constexpr bool kHasSpare = false;
#endif
inline constexpr int kSpareShift = 48;
inline constexpr uint64_t kAllButSpare = (uint64_t{1} << kSpareShift) - 1;

// The second of the two spare bytes of 3.11. Our hooks clear it with each event
// of the frame, so that it never begins with what another one has left there.
inline uint8_t& FrameSpare(const PymemrunFrame* frame) {
  auto* bytes = reinterpret_cast<uint8_t*>(const_cast<PymemrunFrame*>(frame));
  return bytes[PYMEMRUN_FRAME_STACKTOP + 7];
}
inline void ClearSpare(const PymemrunFrame* frame) { FrameSpare(frame) = 0; }
// Other values: a profiler of the script was told about the C call of the
// frame; or a mark of kHeard, which has the highest bit.
inline constexpr uint8_t kToldOfCall = 1;
inline constexpr uint16_t kHeardBit = 0x8000;

// Whether `hook` hears the thread's calls, so that marks of kHeard count; from
// 3.12 on, exceptions that leave a generator, for those of kLooping. (Those of
// an interpreter whose callbacks are not ours it cannot hear.)
inline bool Hears(PymemrunHook hook, const PyThreadState* tstate) {
#ifdef PYMEMRUN_PROFILE_SLOTS
  return hook != nullptr && tstate->c_profilefunc == hook;
#else
  return hook != nullptr && tstate->interp == PyInterpreterState_Main();
#endif
}
// Whether its calls are events, and no callback of one is under way.
inline bool IsProfiledNow(const PyThreadState* tstate) {
#ifdef PYMEMRUN_PROFILE_SLOTS
  return tstate->tracing == 0 && tstate->cframe->use_tracing != 0;
#else
  return false;
#endif
}

}  // namespace pymemrun

#else
namespace pymemrun {
inline void ClearSpare(const PymemrunFrame*) {}
}  // namespace pymemrun
#endif  // PYMEMRUN_FRAME_MARKS
#endif  // PYMEMRUN_TRACER_CPYTHON_FRAME_STATE_H_
