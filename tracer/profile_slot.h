// Keeps our callback where the interpreter delivers events. Up to 3.11 that is
// every thread's profile slot: on threads that Python starts, that C code
// starts and that enter later, and again after the script's own profiler ends;
// while the script's profiler holds a thread's slot we step aside there
// (tracer/profiler_gaps.h). From 3.12 on it is one place for all threads, which
// profilers of the script's share (profile_slot_monitoring.cc). GIL held.
#ifndef PYMEMRUN_TRACER_PROFILE_SLOT_H_
#define PYMEMRUN_TRACER_PROFILE_SLOT_H_

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"

namespace pymemrun {

class ProfileSlot {
 public:
  // From here on threads have `hook`; the calling thread and all that exist get
  // it now.
  static void ArmAll(PymemrunHook hook);
  // No thread has it any more, none gets it.
  static void DisarmAll();
  static bool armed();
  // Where no calls are traced: from here on each new thread has one event, at
  // which it gets its definition with its name. From CPython 3.12 on it does
  // nothing: threads are known by their kernel names then.
  static void NameThreads();

  // Stands in the calling thread's slot before and after the user's code.
  // Returns whether the event is to be traced after all, which goes to the hook
  // then.
  using Watcher = bool (*)(const PymemrunFrame* frame, EventWhat what);
  // One thread at a time.
  static void Watch(Watcher watcher);
  // The hook, if armed, takes the watcher's place.
  static void Unwatch();

  // For the hooks: called while nothing is traced, in a forked child for
  // instance. The calling thread has no events of ours any more.
  static void Leave();

  // The calling thread holds the GIL since a moment ago: give it the hook if it
  // has none. Called for each taking of the GIL.
  static void OnGilTaken();

  // Somebody has put `func` (null: none) into the slot of `tstate`, which is
  // the calling thread's.
  static void Changed(PyThreadState* tstate, Py_tracefunc func);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PROFILE_SLOT_H_
