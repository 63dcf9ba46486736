// When the launcher is PID 1 or a child subreaper, orphans become its children,
// the collector among them. The program must not see that: it becomes a child
// of the launcher, which stays as a small init.
#ifndef PYMEMRUN_LAUNCHER_SESSION_SMALL_INIT_H_
#define PYMEMRUN_LAUNCHER_SESSION_SMALL_INIT_H_

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Whether this process would become the parent of orphans.
bool AdoptsOrphans();

// Forks. Returns in the child, which goes on as the program, with signal mask
// and dispositions as they were. The parent never returns: it forwards signals,
// reaps, stops and continues with the program, and ends as the program does
// (the same exit code or signal; PID 1: 128 + signal), up to 5 s later if a
// collector that the program started on `page` has not finished. `page`: the
// shared region, or nullptr. REQUIRES: one thread.
void BecomeSmallInit(const ControlPage* page);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_SMALL_INIT_H_
