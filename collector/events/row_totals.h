// What is known of all rows at a run's end.
#ifndef PYMEMRUN_COLLECTOR_EVENTS_ROW_TOTALS_H_
#define PYMEMRUN_COLLECTOR_EVENTS_ROW_TOTALS_H_

#include <cstdint>

#include "format/trace.pb.h"

namespace pymemrun {

// What the footer says about all rows.
struct RowTotals {
  uint64_t rows = 0;
  uint64_t next_number = 0;  // last row's number + 1
  uint64_t max_rss_bytes = 0;
  uint64_t max_rss_number = 0;
  uint32_t max_rss_site = 0;
  uint32_t max_rss_thread = 0;
  uint64_t max_rss_us = 0;
  Peak peak;  // the highest; hwm_bytes is 0 when there was none
  uint64_t clock_steps_back = 0;       // rows below the time of the one before
  uint64_t worst_clock_step_back = 0;  // in time stamp units
  GaugeChange gauge_change;            // the last...
  uint32_t gauge_changes = 0;          // ...of so many
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_EVENTS_ROW_TOTALS_H_
