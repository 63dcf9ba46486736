// What the items of a GIL say: SideKind::kGil and kGilStack.
#ifndef PYMEMRUN_TRACER_WIRE_GIL_NOTES_H_
#define PYMEMRUN_TRACER_WIRE_GIL_NOTES_H_

#include <cstdint>

namespace pymemrun {

// As GilAction in gil.proto; kEnded is its GIL_STATE.
enum class GilNote : uint16_t {
  kTaken = 0,
  kWaiting = 1,
  kGivingWay = 2,  // says nothing of who had taken it, as the next
  kGaveWay = 3,
  kEnded = 7,  // the account of a GIL that is no more
  // Of a free-threaded interpreter, as SideLock.
  kLockWaiting = 8,
  kLockTaken = 9,
  kStandsStill = 10,
  kGoesOn = 11,
  kStopsOthers = 12,
  kOthersStopped = 13,
};
constexpr bool IsLockNote(GilNote note) {
  return note >= GilNote::kLockWaiting && note <= GilNote::kOthersStopped;
}
constexpr bool IsGilNote(GilNote note) {
  return note <= GilNote::kGaveWay || note == GilNote::kEnded ||
         IsLockNote(note);
}

enum class GilRole : uint16_t { kWaiter = 1, kHolder = 2 };

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_GIL_NOTES_H_
