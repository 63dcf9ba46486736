#include "tracer/calls/pauses.h"

#include "tracer/base/clock.h"
#include "tracer/calls/event_log.h"
#include "tracer/calls/open_calls.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {

void Pauses::Begin(HotState& hot, bool has_calls) {
  from_stamp_ = TimeStamp(hot.time_is_tsc);
  is_on_ = true;
  has_calls_ = has_calls;
}

void Pauses::End(HotState& hot) {
  const uint64_t stamp = TimeStamp(hot.time_is_tsc);
  const uint64_t number = NextNumber(hot);
  ForgetOpenCalls(hot);
  PausePayload payload = {number, from_stamp_, stamp, 0, 0};
  if (has_calls_) {
    payload.from_rss_pages = static_cast<uint32_t>(RssPages(hot.rss_pages));
    log_.PassOverChange(hot, stamp, number);
    payload.to_rss_pages = static_cast<uint32_t>(RssPages(hot.rss_pages));
  }
  PutStruct(hot, ControlKind::kPause, 0, payload);
  is_on_ = false;
}

void Pauses::Flush(HotState& hot) {
  // Without any event, readers would take this moment for the start of the run.
  if (is_on_ && (!has_calls_ || NextNumber(hot) > 0)) End(hot);
}

}  // namespace pymemrun
