// Makes the forked child a process that the program does not see, and starts
// the collector from there. By raw system calls: functions of libc are
// interposed, and some take locks.
#ifndef PYMEMRUN_TRACER_OBJECTS_CHILD_PROCESS_H_
#define PYMEMRUN_TRACER_OBJECTS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstdint>

namespace pymemrun {

class ChildProcess {
 public:
  // Copies the process; the copy runs start(arg), which does not return. It is
  // no child of the caller's; or, where the program adopts `orphans`, one that
  // no wait() of the program's finds and that sends no signal. Other threads
  // run on, the caller does not. Returns 0, or errno.
  static int Fork(bool orphans, void (*start)(void* arg), void* arg);
  // In a program that adopts orphans: reaps a child that has ended.
  static void ReapOwnChild();
  // Whether orphans would become this process's children.
  static bool AdoptsOrphans();

  // In the child: it is the first to go when memory runs out, with all that it
  // starts. Until then the kernel may choose the program.
  static void BecomeExpendable();
  // A session of its own, higher limits, no core file.
  static void Detach();
  // `crash` gets the signals of a broken program, on a stack of its own.
  static void CatchCrashes(void (*crash)(int signal));
  // Closes all descriptors but these three.
  static void CloseAllBut(int a, int b, int c);
  // Executes the collector at `path` on these descriptors. Returns 0, or errno.
  static int StartCollector(const char* path, const char* const* argv, int pipe,
                            int output, int status);
  // Until it ends, so that it is no orphan. Async-signal-safe.
  static void WaitForCollector();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_CHILD_PROCESS_H_
