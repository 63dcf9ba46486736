// Writes rows into the event ring, each with the state that it changes: thread,
// number, RSS, clock, stack. All functions need the GIL.
#ifndef PYMEMRUN_TRACER_RING_ROW_WRITER_H_
#define PYMEMRUN_TRACER_RING_ROW_WRITER_H_

#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// An event as the hook saw it, before it is decided whether to log it.
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
  uint64_t events;  // number of events since its CALL; 0: not known
  uint64_t stamp;   // of the CALL
  int32_t growth_pages;
};

// A time stamp that is this much later than that of the previous row, or
// earlier, gets a kClock slot.
inline constexpr uint64_t kClockStep = uint64_t{1} << 31;

// Optional facts of a row.
struct RowExtras {
  bool context = false;
  uint32_t stack = 0;  // id; 0: no stack
  EndedCall call = {};
};

// Writes and publishes the row. Without room, counts it as dropped.
void PutRow(HotState& hot, const RawEvent& event, const RowExtras& extras);

// Reports lost rows to the collector. Called once there is room again, and at
// the end.
void FlushLoss(HotState& hot);

// Counts one dropped row.
void CountLoss(HotState& hot, uint64_t number);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_ROW_WRITER_H_
