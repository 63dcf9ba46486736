// A picture of what each thread did: `pymemreport timeline --threads`.
#ifndef PYMEMRUN_READERS_PICTURES_LANES_THREAD_LANES_H_
#define PYMEMRUN_READERS_PICTURES_LANES_THREAD_LANES_H_

#include <cstddef>
#include <cstdint>

#include "readers/pictures/chart/lane_chart.h"
#include "readers/pictures/lanes/lane_levels.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Columns that the file is read at; a picture shows a part of them as one.
inline constexpr uint32_t kLevelFactor = 4;
inline constexpr uint32_t kReadColumns = LaneChart::kColumns * kLevelFactor;

// Reads all sources into `levels`, and finishes it. False: nothing could be
// read, which has been said.
bool ReadLanes(RereadFile* file, LaneLevels* levels);

// With a lane for each of the `most` threads that did most, in the order in
// which they began; one more sums up the others. Threads that `levels` does not
// keep are among these. REQUIRES: kReadColumns.
LaneChart ThreadLanes(const LaneLevels& levels, size_t most);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_LANES_THREAD_LANES_H_
