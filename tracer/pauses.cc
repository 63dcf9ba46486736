#include "tracer/pauses.h"

#include "tracer/clock.h"
#include "tracer/event_log.h"
#include "tracer/event_ring.h"

namespace pymemrun {
namespace {

uint64_t g_from_stamp = 0;

}  // namespace

void Pauses::Begin(HotState& hot) { g_from_stamp = TimeStamp(hot.time_is_tsc); }

void Pauses::End(HotState& hot) {
  const uint64_t stamp = TimeStamp(hot.time_is_tsc);
  const uint64_t number = NextNumber(hot);
  const int32_t from_pages = RssPages(hot.rss_pages);
  EventLog::PassOverChange(hot, stamp, number);
  const PausePayload payload = {number, g_from_stamp, stamp,
                                static_cast<uint32_t>(from_pages),
                                static_cast<uint32_t>(RssPages(hot.rss_pages))};
  const Piece piece = {&payload, sizeof(payload)};
  PutPayload(hot, ControlKind::kPause, 0, 0, &piece, 1);
}

}  // namespace pymemrun
