// Callbacks for every event: a profile function up to CPython 3.11
// (call_hooks.cc), callbacks of sys.monitoring from 3.12 on
// (call_hooks_monitoring.cc). Where calls cannot be traced there are none
// (profile_slot_none.cc).
#ifndef PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_
#define PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_

#include "tracer/calls/event_log.h"
#include "tracer/cpython/compat.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Converts CPython's number of a profile event to EventWhat. The map has one
// nibble per event: CALL 0, RETURN 3, C_CALL 4, C_EXCEPTION 5, C_RETURN 6.
// REQUIRES: `py_what` is one of these.
inline uint32_t WhatOf(int py_what) {
  constexpr uint32_t kMap =
      0u | 1u << (3 * 4) | 2u << (4 * 4) | 4u << (5 * 4) | 3u << (6 * 4);
  return (kMap >> (py_what * 4)) & 7;
}
static_assert(PyTrace_CALL == 0 && PyTrace_RETURN == 3 && PyTrace_C_CALL == 4 &&
              PyTrace_C_EXCEPTION == 5 && PyTrace_C_RETURN == 6);

class CallHooks {
 public:
  // Returns the callback to install: one that logs all events, or one that
  // filters them. REQUIRES: log.Create() was called.
  static PymemrunHook hook(const EventLog& log);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_
