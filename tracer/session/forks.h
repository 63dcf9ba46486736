// Forked children. Each that runs Python code begins a session of its own; one
// that only becomes another program, or ends, costs nothing.
#ifndef PYMEMRUN_TRACER_SESSION_FORKS_H_
#define PYMEMRUN_TRACER_SESSION_FORKS_H_

#include <cstdint>

namespace pymemrun {

class Forks {
 public:
  // Begins the session of a forked child. Returns whether events of calls are
  // to be recorded now.
  using BeginFunction = bool (*)();

  // From here on forks are counted and told, and what only the parent may use
  // is closed in children. Once.
  static void Watch();

  // From here on `begin` is called in each forked child that the interpreter
  // knows of, at its first Python code behind the call that forked, or where it
  // allocates much before: then the interpreter is as it should be, and other
  // threads are gone. What the child
  // does by the module `os` does not count. Not called where orphans become the
  // program's own children: below a subreaper or in a PID namespace that it
  // made. GIL, after Py_Initialize. Once.
  static void Follow(BeginFunction begin);

  // What RSS of a child had grown by, in pages, between the fork and the
  // beginning of its session; 0 of others.
  static uint64_t GrownPages();

  // Whether this process, or one that it was forked from, was seen to be given
  // orphans when it forked.
  static bool AdoptsOrphans();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_FORKS_H_
