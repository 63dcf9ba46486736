// What `pymemreport gil` says of a free-threaded interpreter, which has no GIL.
#ifndef PYMEMRUN_READERS_GIL_LOCK_TEXT_H_
#define PYMEMRUN_READERS_GIL_LOCK_TEXT_H_

#include <string>

#include "readers/gil/gil_replay.h"
#include "readers/places/thread_filter.h"

namespace pymemrun {

// Whether threads wait for the interpreter's locks, and for whom; how long all
// stood still. The replay has finished.
std::string LockSentence(const GilReplay& replay, ThreadFilter* keep);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_GIL_LOCK_TEXT_H_
