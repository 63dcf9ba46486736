// A run's counters for people to read.
#ifndef PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_TEXT_H_
#define PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/screen_text.h"
#include "readers/output/table.h"
#include "readers/replay/counters/counter_replay.h"

namespace pymemrun {

// What the program was like: memory, CPU, runs of the cycle collector,
// descriptors, and how far the samples can be trusted. A paragraph each.
void AddCounterSentences(const CounterReplay& replay, ScreenText* text);

// A line for each series: least, most, last, and a curve. Empty ones are left
// out.
void AddCounterLines(const std::vector<const CounterSeries*>& series,
                     const CounterReplay& replay, ScreenText* text);

// A run's counters, and its runs of the cycle collector, as tables.

// A row for each value: time, counter, value; by counter, then time.
Table CounterRows(const std::vector<const CounterSeries*>& series);

// The runs that took longest, the longest first, at most `limit` (0: all):
// when, generation, duration, objects, and the line of the user's own that was
// under way.
Table GcRunRows(const CounterReplay& replay, uint64_t limit);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_TEXT_H_
