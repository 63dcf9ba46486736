// CPython's numbers for a profile function's events, as EventWhat.
#ifndef PYMEMRUN_TRACER_CALLS_PROFILE_EVENT_H_
#define PYMEMRUN_TRACER_CALLS_PROFILE_EVENT_H_

#include "tracer/cpython/compat.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// One nibble each: CALL 0, RETURN 3, C_CALL 4, C_EXCEPTION 5, C_RETURN 6.
// REQUIRES: one of these.
inline uint32_t WhatOf(int py_what) {
  constexpr uint32_t kMap =
      0u | 1u << (3 * 4) | 2u << (4 * 4) | 4u << (5 * 4) | 3u << (6 * 4);
  return (kMap >> (py_what * 4)) & 7;
}
static_assert(PyTrace_CALL == 0 && PyTrace_RETURN == 3 && PyTrace_C_CALL == 4 &&
              PyTrace_C_EXCEPTION == 5 && PyTrace_C_RETURN == 6);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_PROFILE_EVENT_H_
