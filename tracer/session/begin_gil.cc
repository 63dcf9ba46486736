#include <Python.h>
// Python.h wants to be first.
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/gil/gil_place.h"
#include "tracer/cpython/gil/lock_place.h"
#include "tracer/gil/gil_hooks.h"
#include "tracer/gil/lock_waits.h"
#include "tracer/interpose/interposed.h"
#include "tracer/session/begin_gil.h"
#include "tracer/tasks/task_hooks.h"

namespace pymemrun {
namespace {

void (*g_say)(const char* line) = nullptr;

#ifdef Py_GIL_DISABLED
// Translates the reason that lock_place.c reads from the interpreter.
GilNote WaitOf(const void* semaphore, const void* caller) {
  switch (PymemrunParkedFor(semaphore, caller)) {
    case PYMEMRUN_FOR_LOCK:
      return GilNote::kLockWaiting;
    case PYMEMRUN_STANDS_STILL:
      return GilNote::kStandsStill;
    case PYMEMRUN_STOPS_OTHERS:
      return GilNote::kStopsOthers;
    case PYMEMRUN_DOES_NOT_WAIT:
      return GilNote::kGoesOn;
    default:
      return LockWaits::kOther;
  }
}

void BeginLocks() {
  PymemrunKnowLocks();
  LockWaits::Begin(GilHooks::MinWait(), WaitOf);
}
#else
void BeginLocks() {}
#endif

WatchedGil NewGil(const pthread_cond_t* taken) {
  const PymemrunGilPlace found = PymemrunNewGil(taken);
  return {found.freed, found.taken, found.number};
}

void SayLeftOut() {
  g_say(
      "pymemrun: --trace gil: at most 7 interpreters with their own GIL "
      "can be recorded at a time; further GILs are not recorded\n");
}

}  // namespace

bool IsFreeThreaded() { return kFreeThreaded; }

// TraceGil() comes last: from then on the interposed calls reach these hooks.
void BeginGil(void (*say)(const char* line)) {
  g_say = say;
  if (TaskHooks::asked()) TaskHooks::Begin();
  if (GilHooks::asked()) BeginLocks();
  if (!GilHooks::asked() && !TaskHooks::asked()) return;
  const PymemrunGilPlace gil = PymemrunMainGil();
  if (GilHooks::asked() && gil.freed != nullptr) {
    GilHooks::Begin(gil.number, gil.in_force != 0);
  }
  Interposed::TraceGil({gil.freed, gil.taken, gil.number},
                       GilHooks::asked() ? NewGil : nullptr, SayLeftOut);
}

}  // namespace pymemrun
