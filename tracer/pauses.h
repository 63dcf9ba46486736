// The stretches of time in which tracing is off, by pymemrun.stop() or
// --paused. What RSS changes by meanwhile belongs to no event; a record says
// how much. GIL held; nothing allocates.
#ifndef PYMEMRUN_TRACER_PAUSES_H_
#define PYMEMRUN_TRACER_PAUSES_H_

#include "tracer/hot_state.h"

namespace pymemrun {

class Pauses {
 public:
  // No events come from here on.
  static void Begin(HotState& hot);
  // Reads RSS, from which the next event's dRSS counts, and sends the record.
  // REQUIRES: Begin().
  static void End(HotState& hot);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAUSES_H_
