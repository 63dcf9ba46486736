// Live blocks as a speedscope file: `pymemreport export`.
#ifndef PYMEMRUN_READERS_EXPORT_SPEEDSCOPE_H_
#define PYMEMRUN_READERS_EXPORT_SPEEDSCOPE_H_

#include <string>

#include "readers/heap/heap_replay.h"

namespace pymemrun {

// One profile, in bytes.
std::string SpeedscopeJson(const HeapMoments& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_SPEEDSCOPE_H_
