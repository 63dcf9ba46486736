// Of hostile_run_builder.h, what concerns the GIL.
#ifndef PYMEMRUN_READERS_TESTING_HOSTILE_GIL_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_HOSTILE_GIL_BUILDER_H_

#include <cstdint>

#include "readers/testing/hostile_run.h"

namespace pymemrun {

// As many threads as there are entries wait through all holds, each at a stack
// of its own below a deep one.
void GilWaits(uint64_t count, HostileRun* run);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_HOSTILE_GIL_BUILDER_H_
