// When the interpreter begins to finalise. The program is over then: its main
// module, its threads but daemons, and the functions that it gave to `atexit`.
// What is freed from here on is freed because the process ends.
#ifndef PYMEMRUN_TRACER_SESSION_FINALIZATION_H_
#define PYMEMRUN_TRACER_SESSION_FINALIZATION_H_

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Waits until the collector has scanned the resident pages at the end, if there
// is a collector: for instance a script with a wrong name never starts one.
// Async-signal-safe.
void AwaitEndScan(ControlPage* page);

class Finalization {
 public:
  // From here on the collector is told. Returns false where that cannot be
  // heard: where the interpreter is not part of the executable.
  static bool Watch();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_FINALIZATION_H_
