// Keeps our callback in every thread's profile slot: on threads that Python
// starts, that C code starts and that enter later, and again after the script's
// own profiler ends. While the script's profiler holds a thread's slot we step
// aside there (tracer/profiler_gaps.h). GIL held.
#ifndef PYMEMRUN_TRACER_PROFILE_SLOT_H_
#define PYMEMRUN_TRACER_PROFILE_SLOT_H_

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"

namespace pymemrun {

class ProfileSlot {
 public:
  // From here on threads get `hook`; the calling thread and all that exist get
  // it now.
  static void ArmAll(Py_tracefunc hook);
  // No thread has it any more, none gets it.
  static void DisarmAll();
  // The calling thread only, another callback, as for the time before the
  // user's code.
  static void SetOwn(Py_tracefunc hook);
  static bool armed();

  // The calling thread holds the GIL since a moment ago: give it the hook if it
  // has none. Called for each taking of the GIL.
  static void OnGilTaken();

  // In a forked child: nothing is traced there.
  static void ForgetInChild();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PROFILE_SLOT_H_
