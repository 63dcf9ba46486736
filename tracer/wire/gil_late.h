// What else a kGil item may say. Apart from side_kinds.h, for the two that speak
// of it.
#ifndef PYMEMRUN_TRACER_WIRE_GIL_LATE_H_
#define PYMEMRUN_TRACER_WIRE_GIL_LATE_H_

#include <cstdint>

namespace pymemrun {

// detail << kGilKeptShift: for how long before it the thread had been kept from
// running, and could not say so; in units of time stamps.
inline constexpr uint32_t kGilKeptShift = 8;

// As a GilNote: the account of a GIL that is no more, as GIL_STATE has it. Then
// `detail` is the Linux id of the thread that took it last.
inline constexpr uint16_t kGilEndedNote = 7;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_GIL_LATE_H_
