// Writes live blocks in formats of other tools: `pymemreport export`.
#ifndef PYMEMRUN_READERS_EXPORT_PROFILES_HEAP_FORMATS_H_
#define PYMEMRUN_READERS_EXPORT_PROFILES_HEAP_FORMATS_H_

#include <string>

#include "readers/replay/heap/heap_replay.h"

namespace pymemrun {

// A pprof profile, not compressed: what was allocated up to where the file was
// read, and what is alive at the moment. Has a sample for each stack, thread
// and allocator, without tracing's own. Empty if it has 2 GiB or more, which
// protobuf cannot write.
std::string PprofProfile(const HeapMoments& replay);
// Compresses `bytes` to a gzip file. zlib takes at most `piece_bytes` of them
// at a time: it counts in 32 bits.
std::string Gzipped(absl::string_view bytes,
                    size_t piece_bytes = size_t{1} << 30);

// A speedscope file with one profile, in bytes.
std::string SpeedscopeJson(const HeapMoments& replay);

// A call graph for Graphviz: a node for each function, and an arrow for each
// pair of caller and callee, unless their share of the bytes is small.
// Recursive calls count once.
std::string CallGraphDot(const HeapMoments& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_PROFILES_HEAP_FORMATS_H_
