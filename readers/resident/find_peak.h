// What every command for page events begins with: where RSS was highest.
#ifndef PYMEMRUN_READERS_RESIDENT_FIND_PEAK_H_
#define PYMEMRUN_READERS_RESIDENT_FIND_PEAK_H_

#include <functional>
#include <memory>

#include "readers/resident/resident_replay.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Reads a run once, from its begin, and finishes the visitor. False: nothing
// could be read.
using ReadRun = std::function<bool(ReplayVisitor*)>;

// Reads the file for its peak, and for what else a reading after that may know
// beforehand; twice where that changes what was resident when. Null: nothing
// could be read.
std::unique_ptr<PeakFinder> FindPeak(RereadFile* file);

// Says that the run has no page events, if so it is.
bool SayNoPageEvents(const ResidentReplay& replay, const RereadFile& file,
                     const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_FIND_PEAK_H_
