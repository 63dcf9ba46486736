// What a kGil item says of the time before it. Apart from side_kinds.h, for the
// two that speak of it.
#ifndef PYMEMRUN_TRACER_WIRE_GIL_LATE_H_
#define PYMEMRUN_TRACER_WIRE_GIL_LATE_H_

#include <cstdint>

namespace pymemrun {

// detail << kGilKeptShift: for how long before it the thread had been kept from
// running, and could not say so; in units of time stamps.
inline constexpr uint32_t kGilKeptShift = 8;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_GIL_LATE_H_
