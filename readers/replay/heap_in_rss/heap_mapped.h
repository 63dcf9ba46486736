// What C code has mapped, as reports of live blocks show it beside these.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_MAPPED_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_MAPPED_H_

#include <optional>
#include <string>
#include <vector>

#include "readers/replay/heap/heap_replay.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// What is resident of it at the replay's first moment, in bytes by source, as
// `pymemreport resident --owner heap` has it. Reads the file again, several
// times, if there is something to find.
// Nothing: the file has no page events, or could not be read. REQUIRES:
// `replay` has read it.
std::optional<std::vector<double>> ReadMappedResident(const HeapMoments& replay,
                                                      RereadFile* file);

// The line that says how much is reserved, and what of it is resident as far as
// that is known; empty where there is nothing.
std::string MappedText(const HeapMoments& replay,
                       const std::optional<std::vector<double>>& resident);
// The line of reports that show the stacks of blocks, and look at no pages.
std::string ReservedText(const HeapMoments& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_MAPPED_H_
