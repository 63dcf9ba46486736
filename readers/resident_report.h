// The command `pymemreport resident`.
#ifndef PYMEMRUN_READERS_RESIDENT_REPORT_H_
#define PYMEMRUN_READERS_RESIDENT_REPORT_H_

#include <memory>

#include "readers/report_options.h"
#include "readers/reread_file.h"
#include "readers/resident_replay.h"

namespace pymemrun {

// Says that the run has no page events, if so it is.
bool SayNoPageEvents(const ResidentReplay& replay, const RereadFile& file,
                     const Console& console);

// Reads the file for its peak, and for what else a reading after that may know
// beforehand; twice where that changes what was resident when. Null: nothing
// could be read.
std::unique_ptr<PeakFinder> FindPeak(RereadFile* file);

// Reads options.files[0] and prints; returns the exit code.
int PrintResident(const ReportOptions& options, const Console& console,
                  OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_REPORT_H_
