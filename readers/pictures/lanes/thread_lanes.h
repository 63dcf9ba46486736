// Draws what each thread did: `pymemreport timeline --threads`.
#ifndef PYMEMRUN_READERS_PICTURES_LANES_THREAD_LANES_H_
#define PYMEMRUN_READERS_PICTURES_LANES_THREAD_LANES_H_

#include <cstddef>
#include <cstdint>

#include "readers/pictures/chart/lane_chart.h"
#include "readers/pictures/lanes/lane_levels.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// The file is read at more columns than a picture has, which shows groups of
// them as one.
inline constexpr uint32_t kLevelFactor = 4;
inline constexpr uint32_t kReadColumns = LaneChart::kColumns * kLevelFactor;

// Reads all sources into `levels`, and calls its Finish(). Returns false if
// nothing could be read, and has printed why.
bool ReadLanes(RereadFile* file, LaneLevels* levels);

// A lane for each of the `most` threads that did most, in the order of their
// start, and one for all others. Threads that `levels` does not keep are among
// the others. REQUIRES: `levels` has kReadColumns.
LaneChart ThreadLanes(const LaneLevels& levels, size_t most);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_LANES_THREAD_LANES_H_
