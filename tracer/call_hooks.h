// The profile callbacks. One is installed in every thread's profile slot; which
// one depends on what is logged.
#ifndef PYMEMRUN_TRACER_CALL_HOOKS_H_
#define PYMEMRUN_TRACER_CALL_HOOKS_H_

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"
#include "tracer/row_writer.h"
#include "tracer/session.h"

namespace pymemrun {

class CallHooks {
 public:
  // Makes what the hooks need. Returns false with errno set.
  static bool Create(const TraceConfig* config);

  // The callback for every thread: logs all events, or filters them.
  static Py_tracefunc hook();
  // Every event is logged.
  static bool logs_all();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALL_HOOKS_H_
