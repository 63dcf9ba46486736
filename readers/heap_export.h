// The command `pymemreport export`: live blocks for other tools.
#ifndef PYMEMRUN_READERS_HEAP_EXPORT_H_
#define PYMEMRUN_READERS_HEAP_EXPORT_H_

#include <string>

#include "readers/heap_replay.h"
#include "readers/report_options.h"

namespace pymemrun {

// A pprof profile, not compressed: what was allocated as far as the file was
// read, and what is alive at the moment; a sample for each stack, thread and
// allocator, without tracing's own.
std::string PprofProfile(const HeapMoments& replay);
// `bytes` as a gzip file.
std::string Gzipped(const std::string& bytes);
// What is alive as a speedscope file: one profile, in bytes.
std::string SpeedscopeJson(const HeapMoments& replay);

// Reads options.files[0] and prints; returns the exit code.
int PrintExport(const ReportOptions& options, const Console& console,
                OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_EXPORT_H_
