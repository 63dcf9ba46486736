// What `pymemreport gil` says in words.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_GIL_TEXT_H_
#define PYMEMRUN_READERS_REPLAY_GIL_GIL_TEXT_H_

#include <string>

#include "readers/places/thread_filter.h"
#include "readers/replay/gil/gil_replay.h"

namespace pymemrun {

// Whether these threads neither held the GIL nor waited in what was read.
bool HasNoGilTimes(const GilReplay& replay, ThreadFilter* keep);
// The answer: how many threads wait, for how long, and for what. Lines, each
// ended. The replay has finished.
std::string GilSentence(const GilReplay& replay, ThreadFilter* keep);
// The longest waits, each with both stacks, at most `limit`.
std::string GilWaitsText(const GilReplay& replay, ThreadFilter* keep,
                         size_t limit);
// What limits the report: events that were lost. Empty: nothing.
std::string GilNotes(const GilReplay& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_GIL_TEXT_H_
