// Threads that the event ring may never name: native ones, and those of Python
// before their first event.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_NATIVE_THREAD_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_NATIVE_THREAD_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "collector/definitions/definition_table.h"

namespace pymemrun {

// ThreadDef.id of a thread of `pid`, defined in the file, by the name that the
// kernel has for it unless it is known already.
uint32_t NativeThreadId(pid_t pid, uint32_t thread, uint64_t first_us,
                        DefinitionTable* definitions);

// Most events held back. A new Python thread has events before it has its name,
// and they wait for that.
inline constexpr size_t kMostHeldBack = size_t{1} << 16;

// Whether the thread of an event at `time_ns` has its name, or `now_ns` is so
// late that none is waited for.
bool HasItsName(pid_t pid, uint32_t thread, uint64_t time_ns, uint64_t now_ns,
                const DefinitionTable& definitions);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_NATIVE_THREAD_H_
