// RSS beside the heap over time: `pymemreport timeline --by heap`.
#ifndef PYMEMRUN_READERS_TIME_COMMANDS_HEAP_TIMELINE_CHART_H_
#define PYMEMRUN_READERS_TIME_COMMANDS_HEAP_TIMELINE_CHART_H_

#include "readers/moments/run_moments.h"
#include "readers/output/output_buffer.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Prints a picture, or CSV; returns the exit code. `finder` has read `file`.
int PrintHeapTimeline(bool as_svg, const RunMoments& finder, RereadFile* file,
                      const Console& console, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TIME_COMMANDS_HEAP_TIMELINE_CHART_H_
