// Live blocks as a pprof profile: `pymemreport export`.
#ifndef PYMEMRUN_READERS_EXPORT_PPROF_PROFILE_H_
#define PYMEMRUN_READERS_EXPORT_PPROF_PROFILE_H_

#include <string>

#include "readers/heap/heap_replay.h"

namespace pymemrun {

// A pprof profile, not compressed: what was allocated as far as the file was
// read, and what is alive at the moment; a sample for each stack, thread and
// allocator, without tracing's own.
std::string PprofProfile(const HeapMoments& replay);
// `bytes` as a gzip file.
std::string Gzipped(const std::string& bytes);
}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_PPROF_PROFILE_H_
