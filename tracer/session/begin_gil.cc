#include "tracer/session/begin_gil.h"

#include "tracer/cpython/gil_place.h"
#include "tracer/cpython/lock_place.h"
#include "tracer/cpython/version.h"
#include "tracer/gil/gil_hooks.h"
#include "tracer/gil/lock_waits.h"
#include "tracer/interpose/interposed.h"
#include "tracer/tasks/task_hooks.h"

namespace pymemrun {
namespace {

void (*g_say)(const char* line) = nullptr;

#ifdef Py_GIL_DISABLED
constexpr bool kFreeThreaded = true;
void BeginLocks() {
  PymemrunKnowLocks();
  LockWaits::Begin(GilHooks::MinWait());
}
#else
constexpr bool kFreeThreaded = false;
void BeginLocks() {}
#endif

WatchedGil NewGil(const pthread_cond_t* taken) {
  const PymemrunGilPlace found = PymemrunNewGil(taken);
  return {found.freed, found.taken, found.number};
}

void SayLeftOut() {
  g_say("pymemrun: --trace gil: the program has more interpreters with a "
        "GIL of their own than can be recorded at a time, 7: GILs from "
        "here on are left out\n");
}

}  // namespace

bool IsFreeThreaded() { return kFreeThreaded; }

void BeginGil(void (*say)(const char* line)) {
  g_say = say;
  if (TaskHooks::asked()) TaskHooks::Begin();
  if (GilHooks::asked()) BeginLocks();
  if (!GilHooks::asked() && !TaskHooks::asked()) return;
  const PymemrunGilPlace gil = PymemrunMainGil();
  if (GilHooks::asked() && gil.freed != nullptr) GilHooks::Begin(gil.number);
  Interposed::TraceGil({gil.freed, gil.taken, gil.number},
                       GilHooks::asked() ? NewGil : nullptr, SayLeftOut);
}

}  // namespace pymemrun
