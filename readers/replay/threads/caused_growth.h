// Growth of RSS by the thread that caused it: `pymemreport top --by thread`,
// and --thread for other places.
#ifndef PYMEMRUN_READERS_REPLAY_THREADS_CAUSED_GROWTH_H_
#define PYMEMRUN_READERS_REPLAY_THREADS_CAUSED_GROWTH_H_

#include <memory>
#include <string>

#include "readers/replay/growth/profile_table.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/replay/threads/thread_replay.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Reads a run again, after `finder` has read it. Returns null if no page faults
// were recorded, or nothing can be read. `tasks`: see
// ResidentReplay::TellTasksApart(). `range`: see ThreadReplay::KeepRange().
std::unique_ptr<ThreadReplay> ReadCaused(RereadFile* file,
                                         const PeakFinder& finder,
                                         const TaskStepsReader* tasks = nullptr,
                                         const TimeRange& range = {});

// Adds what the threads changed, each change at the place of its stack.
// `wanted`: see ThreadFilter. REQUIRES: the table is by kCaused, and Finish()
// was called.
void AddCaused(const ThreadReplay& replay, const std::string& wanted,
               ProfileTable* table);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_THREADS_CAUSED_GROWTH_H_
