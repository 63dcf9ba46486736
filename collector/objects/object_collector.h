// The process that writes a dump: from the child's pipe to the file.
#ifndef PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_COLLECTOR_H_
#define PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_COLLECTOR_H_

#include "tracer/wire/object_wire.h"

namespace pymemrun {

struct ObjectFds {
  int pipe;
  int output;
  int status;
};

// Reads until the pipe ends, writes the file and tells the traced process.
// `walker`: a pidfd of the child, or -1; it is killed where it goes on without
// a word, or where its words make no sense. Returns the process's exit status.
int CollectObjects(const ObjectFds& fds, int walker, int silent_ms);

// The whole of `pymemrun-collector --objects`.
int RunObjectCollector();

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_COLLECTOR_H_
