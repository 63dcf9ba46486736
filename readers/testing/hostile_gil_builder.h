// The part of hostile_run_builder.h for the GIL and states.
#ifndef PYMEMRUN_READERS_TESTING_HOSTILE_GIL_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_HOSTILE_GIL_BUILDER_H_

#include <cstdint>

#include "readers/testing/hostile_run.h"

namespace pymemrun {

// As many threads as there are entries wait through all holds, each at a stack
// of its own below a deep one.
void GilWaits(uint64_t count, HostileRun* run);
// Without a GIL: as many threads wait for a lock and stand still, each let go
// by another at a stack of its own below a deep one.
void LockWaits(uint64_t count, HostileRun* run);
// One thread runs and sleeps as often as there are entries. In each step it
// takes the GIL and waits for it, and the scheduler's counts are read.
void StateSpans(uint64_t count, HostileRun* run);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_HOSTILE_GIL_BUILDER_H_
