// A run's counters, and its runs of the cycle collector, as tables.
#ifndef PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_TABLES_H_
#define PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_TABLES_H_

#include <cstdint>
#include <vector>

#include "readers/output/table.h"
#include "readers/replay/counters/counter_replay.h"

namespace pymemrun {

// A row for each value: time, counter, value; by counter, then time.
Table CounterRows(const std::vector<const CounterSeries*>& series);

// The runs that took longest, the longest first, at most `limit` (0: all):
// when, generation, duration, objects, and the line of the user's own that was
// under way.
Table GcRunRows(const CounterReplay& replay, uint64_t limit);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_TABLES_H_
