// RSS and CPU over time: the picture of `pymemreport counters`.
#ifndef PYMEMRUN_READERS_COMMANDS_TIME_COUNTER_CHART_H_
#define PYMEMRUN_READERS_COMMANDS_TIME_COUNTER_CHART_H_

#include "readers/pictures/chart/lane_chart.h"
#include "readers/replay/counters/counter_replay.h"

namespace pymemrun {

// The replay has finished.
LaneChart CounterChart(const CounterReplay& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_TIME_COUNTER_CHART_H_
