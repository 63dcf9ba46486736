// Puts rows into the ring together with the state they change: thread, number,
// RSS, clock, stack. GIL held.
#ifndef PYMEMRUN_TRACER_ROW_WRITER_H_
#define PYMEMRUN_TRACER_ROW_WRITER_H_

#include <cstdint>

#include "tracer/hot_state.h"
#include "tracer/ring_layout.h"

namespace pymemrun {

// One event as the hook saw it, before anything is decided about it.
struct RawEvent {
  uint64_t number;
  uint64_t stamp;
  uint32_t what_and_code;
  uint32_t position;
  uint32_t function;
  uint32_t thread;
  uint32_t rss_pages;
  int32_t drss_pages;
};

// Whether a row for `event` needs nothing but its own slot.
inline bool IsPlainRow(const HotState& hot, const RawEvent& event) {
  return event.number == hot.row_number + 1 && event.drss_pages == 0 &&
         event.rss_pages == hot.row_rss_pages &&
         event.thread == hot.row_thread &&
         event.stamp - hot.row_tsc < (uint64_t{1} << 31);
}

// Writes and publishes the row; `stack` is 0 or its stack id. Counts it as
// dropped when there is no room.
void PutRow(HotState& hot, const RawEvent& event, bool context, uint32_t stack);

// Tells the collector how many rows were lost, once there is room again or at
// the end.
void FlushLoss(HotState& hot);

// Counts one row that found no room.
void CountLoss(HotState& hot, uint64_t number);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_ROW_WRITER_H_
