// Keeps our callback where the interpreter delivers events. Up to 3.11 that is
// every thread's profile slot: on threads that Python starts, that C code
// starts and that enter later, and again after the script's own profiler ends;
// while the script's profiler holds a thread's slot we step aside there
// (profiler_gaps.h). From 3.12 on it is one place for all threads, which
// profilers of the script's share (profile_slot_monitoring.cc). GIL held.
#ifndef PYMEMRUN_TRACER_CALLS_PROFILE_SLOT_H_
#define PYMEMRUN_TRACER_CALLS_PROFILE_SLOT_H_

#include "tracer/base/hot_state.h"
#include "tracer/calls/profiler_gaps.h"
#include "tracer/code/current_stack.h"
#include "tracer/code/thread_registry.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

// What stands in the calling thread's slot before and after the user's code.
struct SlotWatcher {
  // Returns whether the event is to be traced after all, which goes to the hook
  // then. `module`: of the C function of a C event; null: it says none.
  bool (*on_event)(void* context, const PymemrunFrame* frame, EventWhat what,
                   PyObject* module);
  void* context;
};

// One of the process, whose interpreter has one place for it: what the
// interpreter and libc call is static, and goes to the slot that was the first
// to be armed, watched or named by.
class ProfileSlot {
 public:
  constexpr ProfileSlot(ThreadRegistry& threads, CurrentStack& stacks,
                        ProfilerGaps& gaps)
      : threads_(threads), stacks_(stacks), gaps_(gaps) {}

  // From here on threads have `hook`; the calling thread and all that exist get
  // it now.
  void ArmAll(PymemrunHook hook);
  // No thread has it any more, none gets it.
  void DisarmAll();
  bool armed() const { return hook_ != nullptr && !only_names_; }
  // Where no calls are traced: from here on each new thread gets its definition
  // with its name when it first runs Python code. With `renames` it is also
  // looked at now and then as it takes the GIL, to see whether it was renamed.
  // Up to 3.11 each look may make the interpreter allocate: there the heap's
  // hooks look where there are any. From 3.12 on it is always looked at.
  void NameThreads(bool renames);

  // One thread at a time. Returns false where that cannot be: calls are not
  // traced, or, up to 3.11, the script's own profiler holds the slot.
  bool Watch(const SlotWatcher& watcher);
  // The hook, if armed, takes the watcher's place.
  void Unwatch();

  // For the hooks: called while nothing is traced, for instance in a forked
  // child. Removes the events of the tracer from the calling thread.
  static void Leave();

  // The calling thread holds the GIL since a moment ago: give it the hook if it
  // has none. Called for each taking of the GIL.
  static void OnGilTaken();

 private:
  friend struct SlotHooks;  // what the interpreter calls
  void Use();
  void Arm(PyThreadState* tstate);
  bool WantsHook(PyThreadState* tstate) const;
  bool MayHook(PyThreadState* tstate) const;
  void Install();
  // Somebody has put `func` (null: none) into the slot of `tstate`, which is
  // the calling thread's.
  static void Changed(PyThreadState* tstate, Py_tracefunc func);

  ThreadRegistry& threads_;
  CurrentStack& stacks_;
  ProfilerGaps& gaps_;
  PymemrunHook hook_ = nullptr;  // null: not armed
  bool only_names_ = false;      // it is for NameThreads()
  bool renames_ = false;         // which looks at names again
  SlotWatcher watcher_ = {};
  // Whose events the watcher is told, where all threads share one place.
  PyThreadState* watched_ = nullptr;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_PROFILE_SLOT_H_
