// libc functions that this executable defines itself. Symbols of an executable
// take precedence over those of libc in the whole process, from before main and
// on every thread. So each function forwards the call first, works before any
// set-up, keeps errno, and changes state only in the traced process. (A vfork
// child runs in the memory of its parent.)
#ifndef PYMEMRUN_TRACER_INTERPOSE_INTERPOSED_H_
#define PYMEMRUN_TRACER_INTERPOSE_INTERPOSED_H_

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Condition variables of a GIL. Both null: no such GIL.
struct WatchedGil {
  const pthread_cond_t* freed;
  const pthread_cond_t* taken;
  uint64_t number;  // 1: the main interpreter
};

class Interposed {
 public:
  // From now on, calls in process `pid` signal the gauge, protect its
  // descriptor, and announce an exec. In child processes they only forward.
  // Returns false with errno set on failure.
  static bool Enable(pid_t pid, ControlPage* page);
  static void Disable();
  static ControlPage* page();

  // Prints `notice` when this process execs a program without a tracer; null:
  // prints nothing.
  using Say = void(const char* line, size_t size);
  static void NoticeExec(Say* say, const char* notice);

  // Calls `told` when this process is about to end by _exit(): on any thread,
  // perhaps in a signal handler.
  static void NoticeExit(void (*told)(int status));

  // Whether the calling thread is inside fork() of this process. The fork hooks
  // then report the pid of the child.
  static bool InFork();

  // Calls `taken` on the thread that signals `cond`, which happens when it
  // takes the GIL. Null: no calls.
  static void WatchGil(const pthread_cond_t* cond, void (*taken)());
  // Reports signals of both condition variables of the main GIL to GilHooks and
  // TaskHooks, independent of WatchGil() (gil_place.h). Reports other GILs to
  // GilHooks once their second variable is initialised, if `find` knows it;
  // null: no other GILs. Calls `left_out` once, when a GIL cannot be recorded
  // because all entries are used.
  static void TraceGil(const WatchedGil& main,
                       WatchedGil (*find)(const pthread_cond_t* taken),
                       void (*left_out)());
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_INTERPOSE_INTERPOSED_H_
