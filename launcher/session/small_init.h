// If the launcher is PID 1 or a child subreaper, orphans become its children,
// the collector among them. The program must not see that. So it runs as a
// child of the launcher, which stays as a small init.
#ifndef PYMEMRUN_LAUNCHER_SESSION_SMALL_INIT_H_
#define PYMEMRUN_LAUNCHER_SESSION_SMALL_INIT_H_

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Whether orphans become children of this process.
bool AdoptsOrphans();

// Forks. Returns in the child, which continues as the program, with unchanged
// signal mask and dispositions. The parent never returns: it forwards signals,
// reaps children, stops and continues with the program, and ends with the same
// exit code or signal (PID 1: 128 + signal). It waits up to 5 s longer for a
// collector that serves `page`. `page` is the shared region, or nullptr.
// REQUIRES: there is one thread.
void BecomeSmallInit(const ControlPage* page);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_SMALL_INIT_H_
