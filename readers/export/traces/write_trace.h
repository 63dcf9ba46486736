// Exports a run as a timeline for other tools: `pymemreport export --format
// perfetto` and `--format chrome`.
#ifndef PYMEMRUN_READERS_EXPORT_TRACES_WRITE_TRACE_H_
#define PYMEMRUN_READERS_EXPORT_TRACES_WRITE_TRACE_H_

#include <cstdint>
#include <string>

#include "readers/output/output_buffer.h"
#include "readers/run/console.h"

namespace pymemrun {

// How WriteTrace() writes. Slices shorter than `min_us` are left out.
struct TraceOptions {
  bool as_json = false;  // Chrome's format; false: Perfetto's
  uint64_t min_us = 1000;
};

// Writes while it reads, and prints what it leaves out. Perfetto's traces
// include the last dump of objects in the run's folder. Returns the exit code.
int WriteTrace(const std::string& path, const TraceOptions& options,
               const Console& console, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_TRACES_WRITE_TRACE_H_
