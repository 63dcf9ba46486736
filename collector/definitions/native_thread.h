// Threads that the event ring may never name: native ones, and those of Python
// before their first event.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_NATIVE_THREAD_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_NATIVE_THREAD_H_

#include <sys/types.h>

#include <cstdint>

#include "collector/definitions/definition_table.h"

namespace pymemrun {

// ThreadDef.id of a thread of `pid`, defined in the file, by the name that the
// kernel has for it unless it is known already.
uint32_t NativeThreadId(pid_t pid, uint32_t thread, uint64_t first_us,
                        DefinitionTable* definitions);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_NATIVE_THREAD_H_
