// The callbacks for every event, up to CPython 3.11 a profile function
// (call_hooks.cc), from 3.12 on callbacks of sys.monitoring
// (call_hooks_monitoring.cc). Where calls cannot be traced there are no
// callbacks (profile_slot_none.cc). Which one is installed depends on what is
// logged.
#ifndef PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_
#define PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_

#include "tracer/calls/event_log.h"
#include "tracer/cpython/compat.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// CPython's numbers for a profile function's events, as EventWhat. One nibble
// each: CALL 0, RETURN 3, C_CALL 4, C_EXCEPTION 5, C_RETURN 6.
// REQUIRES: one of these.
inline uint32_t WhatOf(int py_what) {
  constexpr uint32_t kMap =
      0u | 1u << (3 * 4) | 2u << (4 * 4) | 4u << (5 * 4) | 3u << (6 * 4);
  return (kMap >> (py_what * 4)) & 7;
}
static_assert(PyTrace_CALL == 0 && PyTrace_RETURN == 3 && PyTrace_C_CALL == 4 &&
              PyTrace_C_EXCEPTION == 5 && PyTrace_C_RETURN == 6);

class CallHooks {
 public:
  // Logs all events, or filters them. REQUIRES: log.Create().
  static PymemrunHook hook(const EventLog& log);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_
