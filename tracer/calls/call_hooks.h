// The callbacks for every event, up to CPython 3.11 a profile function
// (call_hooks.cc), from 3.12 on callbacks of sys.monitoring
// (call_hooks_monitoring.cc). Where calls cannot be traced there are no
// callbacks (profile_slot_none.cc). Which one is installed depends on what is
// logged.
#ifndef PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_
#define PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_

#include "tracer/calls/event_log.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

class CallHooks {
 public:
  // Logs all events, or filters them. REQUIRES: log.Create().
  static PymemrunHook hook(const EventLog& log);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_CALL_HOOKS_H_
