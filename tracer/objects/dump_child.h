// The forked child: it closes what it inherited, starts the collector of the
// dump, walks the objects and ends.
#ifndef PYMEMRUN_TRACER_OBJECTS_DUMP_CHILD_H_
#define PYMEMRUN_TRACER_OBJECTS_DUMP_CHILD_H_

#include <cstddef>
#include <cstdint>

#include "tracer/wire/object_wire.h"

namespace pymemrun {

// What a dump is to be. Pointers stay valid until it is under way.
struct DumpOrder {
  const char* collector;    // its path
  const char* launch_text;  // of the run
  size_t launch_bytes;
  int output;            // the dump's file; the caller closes it
  const char* file;      // its path
  const char* replaces;  // the dump whose place it takes, or null
  bool orphans;          // the program adopts them: the child leaves it none
  ObjectBeginWire begin;
};

// Runs in the child, whose only thread is the one that held the GIL. A
// collector that does not start is told in `status`.
[[noreturn]] void RunDumpChild(const DumpOrder& order, ObjectStatus* status,
                               int status_fd);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_DUMP_CHILD_H_
