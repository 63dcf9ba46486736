// Spans in which tracing is off, by pymemrun.stop() or --paused. Changes of RSS
// in a span belong to no event; a record has their size. All functions need the
// GIL; nothing allocates.
#ifndef PYMEMRUN_TRACER_CALLS_PAUSES_H_
#define PYMEMRUN_TRACER_CALLS_PAUSES_H_

#include "tracer/base/hot_state.h"

namespace pymemrun {

class EventLog;

class Pauses {
 public:
  explicit constexpr Pauses(EventLog& log) : log_(log) {}

  // No events come from here on. `has_calls`: there were events of calls, so
  // that RSS is known.
  void Begin(HotState& hot, bool has_calls);
  // Reads RSS, from which the next event's dRSS counts, and sends the record.
  // REQUIRES: is_on().
  void End(HotState& hot);
  bool is_on() const { return is_on_; }
  // The run ends: sends the record of one that is going on.
  void Flush(HotState& hot);

 private:
  EventLog& log_;
  bool is_on_ = false;
  bool has_calls_ = false;
  uint64_t from_stamp_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_PAUSES_H_
