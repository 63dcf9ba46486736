// Tables of `pymemreport states`.
#ifndef PYMEMRUN_READERS_REPLAY_STATES_STATE_TABLES_H_
#define PYMEMRUN_READERS_REPLAY_STATES_STATE_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/table.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/states/state_replay.h"

namespace pymemrun {

// A row for each thread that is kept, those that ran longest first, at most
// `limit` (0: all). The replay has finished. What is not known is empty: with
// the GIL and for it where its events were not recorded, what a sleep was for
// where only the scheduler's counts are there.
Table StateTable(const StateReplay& replay, ThreadFilter* keep, uint64_t limit,
                 TableFormat format);

// The threads that are kept, in that order.
std::vector<uint32_t> StateThreadsOf(const StateReplay& replay,
                                     ThreadFilter* keep);

// The answer: what the threads did. Lines, each ended.
std::string StateSentence(const StateReplay& replay, ThreadFilter* keep);
// What limits it, and why. Empty: nothing.
std::string StateNotes(const StateReplay& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_STATES_STATE_TABLES_H_
