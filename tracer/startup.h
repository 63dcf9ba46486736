// When tracing begins: at the last moment before the user's code. A one-time
// audit hook hears that the interpreter is about to run the script; from then
// on a waiting callback looks for the first frame of the user's, and only that
// event is number 0. Under `-m`, and for directories and zip files, the frames
// of runpy below the user's are never shown.
#ifndef PYMEMRUN_TRACER_STARTUP_H_
#define PYMEMRUN_TRACER_STARTUP_H_

#include "tracer/cpython_compat.h"
#include "tracer/session.h"

namespace pymemrun {

class Startup {
 public:
  // What to do when the moment comes: begins the session and returns whether
  // events are to be recorded now (false with --paused).
  using BeginFunction = bool (*)();

  // Before Py_InitializeFromConfig.
  static void Watch(const TraceConfig* config, BeginFunction begin);

  // For the hooks: the user's outermost frame under runpy has returned.
  static int RootReturned();
  // For the hooks: called while nothing is traced, in a forked child for
  // instance. Takes the hook out of this thread's slot. Returns 0.
  static int NotTracing();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_STARTUP_H_
