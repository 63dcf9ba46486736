// The part of hostile_run_builder.h for tasks.
#ifndef PYMEMRUN_READERS_TESTING_HOSTILE_TASK_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_HOSTILE_TASK_BUILDER_H_

#include <cstdint>

#include "readers/testing/hostile_run.h"

namespace pymemrun {

// As many tasks as there are entries, each with a name and a stack of its own
// below a deep one. Their steps are nested.
void TaskSteps(uint64_t count, HostileRun* run);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_HOSTILE_TASK_BUILDER_H_
