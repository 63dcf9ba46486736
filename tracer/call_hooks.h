// The profile callbacks. One is installed in every thread's profile slot; which
// one depends on what is logged.
#ifndef PYMEMRUN_TRACER_CALL_HOOKS_H_
#define PYMEMRUN_TRACER_CALL_HOOKS_H_

#include "tracer/cpython_compat.h"

namespace pymemrun {

class CallHooks {
 public:
  // Logs all events, or filters them. After EventLog::Create.
  static Py_tracefunc hook();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALL_HOOKS_H_
