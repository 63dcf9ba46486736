// The libc functions that this executable defines itself. Symbols of an
// executable win over libc's for the whole process, from before main on and on
// every thread; so each forwards first and foremost, works before anything of
// ours is set up, keeps errno, and changes our state only in the process that
// is traced (a vfork child runs in its memory).
#ifndef PYMEMRUN_TRACER_INTERPOSE_INTERPOSED_H_
#define PYMEMRUN_TRACER_INTERPOSE_INTERPOSED_H_

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// The condition variables of a GIL. Both null: there is no such GIL.
struct WatchedGil {
  const pthread_cond_t* freed;
  const pthread_cond_t* taken;
  uint64_t number;  // 1: the main interpreter's
};

class Interposed {
 public:
  // From here on, calls in process `pid` are signs for the gauge, guard its
  // descriptor, and mark an exec; in its children they only forward. Returns
  // false, errno set, where that cannot be had.
  static bool Enable(pid_t pid, ControlPage* page);
  static void Disable();
  static ControlPage* page();

  // `notice` is said when this process execs what has no tracer; null: nothing.
  using Say = void(const char* line, size_t size);
  static void NoticeExec(Say* say, const char* notice);

  // `told` is called when this process is about to end by _exit(): on any
  // thread, perhaps in a signal handler.
  static void NoticeExit(void (*told)(int status));

  // Whether the calling thread is in a fork of ours, which will tell the
  // child's number.
  static bool InFork();

  // From here on `taken` is called by the thread that signals `cond`: so the
  // interpreter's taking of the GIL is heard. Null: nothing is.
  static void WatchGil(const pthread_cond_t* cond, void (*taken)());
  // From here on GilHooks and TaskHooks hear of both condition variables of the
  // main interpreter's GIL, whatever WatchGil() was told (gil_place.h). And
  // GilHooks of those GILs whose second variable is initialised later, if
  // `find` knows it; null: of no others. `left_out` is called once, when a GIL
  // finds no account.
  static void TraceGil(const WatchedGil& main,
                       WatchedGil (*find)(const pthread_cond_t* taken),
                       void (*left_out)());
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_INTERPOSE_INTERPOSED_H_
