// The command `pymemreport timeline`.
#ifndef PYMEMRUN_READERS_TIMELINE_REPORT_H_
#define PYMEMRUN_READERS_TIMELINE_REPORT_H_

#include "readers/report_options.h"

namespace pymemrun {

// Reads options.files[0] and prints; returns the exit code.
int PrintTimeline(const ReportOptions& options, const Console& console,
                  OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TIMELINE_REPORT_H_
