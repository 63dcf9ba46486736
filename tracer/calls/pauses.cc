#include "tracer/calls/pauses.h"

#include "tracer/base/clock.h"
#include "tracer/calls/event_log.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {

void Pauses::Begin(HotState& hot) {
  from_stamp_ = TimeStamp(hot.time_is_tsc);
  is_on_ = true;
}

void Pauses::End(HotState& hot) {
  const uint64_t stamp = TimeStamp(hot.time_is_tsc);
  const uint64_t number = NextNumber(hot);
  const int32_t from_pages = RssPages(hot.rss_pages);
  log_.PassOverChange(hot, stamp, number);
  const PausePayload payload = {number, from_stamp_, stamp,
                                static_cast<uint32_t>(from_pages),
                                static_cast<uint32_t>(RssPages(hot.rss_pages))};
  PutStruct(hot, ControlKind::kPause, 0, payload);
  is_on_ = false;
}

void Pauses::Flush(HotState& hot) {
  // Where there was no event the run's begin would be thought to be here.
  if (is_on_ && NextNumber(hot) > 0) End(hot);
}

}  // namespace pymemrun
