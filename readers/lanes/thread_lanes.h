// A picture of what each thread did: `pymemreport timeline --threads`.
#ifndef PYMEMRUN_READERS_LANES_THREAD_LANES_H_
#define PYMEMRUN_READERS_LANES_THREAD_LANES_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "readers/chart/lane_chart.h"
#include "readers/lanes/lane_levels.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Columns that the file is read at; a picture shows a part of them as one.
inline constexpr uint32_t kLevelFactor = 4;
inline constexpr uint32_t kReadColumns = LaneChart::kColumns * kLevelFactor;

// Reads all sources into `levels`, and finishes it. False: nothing could be
// read, which has been said.
bool ReadLanes(RereadFile* file, LaneLevels* levels);

// By a thread's id.
using KeepsThread = std::function<bool(uint32_t)>;

// With a lane for each of the `most` threads that did most, in the order in
// which they began; one more sums up the others. `keeps`, if there is one, says
// which threads may have a lane. REQUIRES: kReadColumns.
LaneChart ThreadLanes(const LaneLevels& levels, size_t most,
                      const KeepsThread& keeps = nullptr);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_LANES_THREAD_LANES_H_
