// Live blocks in formats of other tools: `pymemreport export`.
#ifndef PYMEMRUN_READERS_EXPORT_PROFILES_HEAP_FORMATS_H_
#define PYMEMRUN_READERS_EXPORT_PROFILES_HEAP_FORMATS_H_

#include <string>

#include "readers/replay/heap/heap_replay.h"

namespace pymemrun {

// A pprof profile, not compressed: what was allocated as far as the file was
// read, and what is alive at the moment; a sample for each stack, thread and
// allocator, without tracing's own.
std::string PprofProfile(const HeapMoments& replay);
// `bytes` as a gzip file.
std::string Gzipped(const std::string& bytes);

// A speedscope file: one profile, in bytes.
std::string SpeedscopeJson(const HeapMoments& replay);

// A graph of callers and callees, for Graphviz. It has a node for each function
// and an arrow for each pair of caller and callee that have no small share of
// the bytes. Bytes of a recursion count once.
std::string CallGraphDot(const HeapMoments& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_PROFILES_HEAP_FORMATS_H_
