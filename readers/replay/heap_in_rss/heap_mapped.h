// The mappings of C code, as reports of live blocks show them.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_MAPPED_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_MAPPED_H_

#include <optional>
#include <string>
#include <vector>

#include "readers/replay/heap/heap_replay.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Their resident bytes at the replay's first moment, by source, as `pymemreport
// resident --owner heap` reports them. Reads the file again, several times, if
// there is something to find. Returns nothing if the file has no page events or
// cannot be read. REQUIRES: `replay` has read the file.
std::optional<std::vector<double>> ReadMappedResident(const HeapMoments& replay,
                                                      RereadFile* file);

// A line with the reserved bytes, and the resident part of them if it is known.
// Empty if nothing is mapped.
std::string MappedText(const HeapMoments& replay,
                       const std::optional<std::vector<double>>& resident);
// The same line for reports of blocks' stacks, which do not read pages.
std::string ReservedText(const HeapMoments& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_MAPPED_H_
