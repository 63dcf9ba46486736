// RSS and CPU over time: the picture of `pymemreport counters`.
#ifndef PYMEMRUN_READERS_TIME_COMMANDS_COUNTER_CHART_H_
#define PYMEMRUN_READERS_TIME_COMMANDS_COUNTER_CHART_H_

#include "readers/chart/lane_chart.h"
#include "readers/counters/counter_replay.h"

namespace pymemrun {

// The replay has finished.
LaneChart CounterChart(const CounterReplay& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TIME_COMMANDS_COUNTER_CHART_H_
