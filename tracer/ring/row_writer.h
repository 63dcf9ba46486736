// Puts rows into the ring together with the state they change: thread, number,
// RSS, clock, stack. GIL held.
#ifndef PYMEMRUN_TRACER_RING_ROW_WRITER_H_
#define PYMEMRUN_TRACER_RING_ROW_WRITER_H_

#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// One event as the hook saw it, before anything is decided about it.
struct RawEvent {
  uint64_t number;
  uint64_t stamp;
  uint32_t what_and_code;
  uint32_t position;
  uint32_t function;
  uint32_t thread;
  uint32_t rss_pages;  // see kRssEstimated
  int32_t drss_pages;
};

// The call that a RETURN ends.
struct EndedCall {
  uint64_t events;  // how many events before it its CALL was; 0: not known
  uint64_t stamp;   // of the CALL
  int32_t growth_pages;
};

// A time stamp this far from the previous row's, or before it, takes a slot of
// its own.
inline constexpr uint64_t kClockStep = uint64_t{1} << 31;

// What is known of a row besides.
struct RowExtras {
  bool context = false;
  uint32_t stack = 0;  // 0: none
  EndedCall call = {};
};

// Writes and publishes the row. Counts it as dropped when there is no room.
void PutRow(HotState& hot, const RawEvent& event, const RowExtras& extras);

// Tells the collector how many rows were lost, once there is room again or at
// the end.
void FlushLoss(HotState& hot);

// Counts one row that found no room.
void CountLoss(HotState& hot, uint64_t number);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_ROW_WRITER_H_
