#include "tracer/ring/row_writer.h"

#include "tracer/base/clock.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {
namespace {

// Slots of a row with all its state: kThread, kNumber, kRss, kClock, kStack,
// kCall, kCallClock and the row.
constexpr uint32_t kMaxRowSlots = 8;

void PutRss(HotState& hot, uint64_t at, const RawEvent& event) {
  const bool estimated = (event.rss_pages & kRssEstimated) != 0;
  PutControl(hot, at, ControlKind::kRss,
             static_cast<uint32_t>(RssPages(event.rss_pages)),
             static_cast<uint32_t>(event.drss_pages),
             estimated ? kRssInexact : 0);
  hot.row_rss_pages = event.rss_pages;
}

// Returns the index after the slots it wrote.
uint64_t PutCall(HotState& hot, uint64_t at, const EndedCall& call) {
  PutControl(hot, at++, ControlKind::kCall, static_cast<uint32_t>(call.events),
             static_cast<uint32_t>(call.events >> 32),
             static_cast<uint32_t>(call.growth_pages));
  PutControl(hot, at++, ControlKind::kCallClock,
             static_cast<uint32_t>(call.stamp),
             static_cast<uint32_t>(call.stamp >> 32), 0);
  return at;
}

}  // namespace

// Gathers consecutive losses into one record, sent when there is room again.
void CountLoss(HotState& hot, uint64_t number) {
  if (hot.loss.rows == 0) hot.loss.from = number;
  hot.loss.to = number;
  ++hot.loss.rows;
  hot.page->dropped.store(hot.page->dropped.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
}

void FlushLoss(HotState& hot) {
  if (hot.loss.rows == 0) return;
  const LossPayload payload = {hot.loss.rows, hot.loss.from, hot.loss.to,
                               TimeStamp(hot.time_is_tsc)};
  if (PutStruct(hot, ControlKind::kLoss, 0, payload)) hot.loss = {};
}

void PutRow(HotState& hot, const RawEvent& event, const RowExtras& extras) {
  ++hot.rows_offered;
  if ((event.what_and_code & kIdMask) == 0) {  // its code has no definition
    CountLoss(hot, event.number);
    return;
  }
  if (hot.loss.rows != 0) FlushLoss(hot);
  // All slots of a row are reserved together and published at once. So the
  // collector never sees state without its row. The state in hot.row_* changes
  // only with slots that were published; a dropped row leaves it unchanged.
  if (!ReserveSlots(hot, kMaxRowSlots)) {
    CountLoss(hot, event.number);
    return;
  }
  uint64_t at = hot.head;
  if (event.thread != hot.row_thread) {
    PutControl(hot, at++, ControlKind::kThread, event.thread, 0, 0);
    hot.row_thread = event.thread;
  }
  if (event.number != hot.row_number + 1) {
    PutControl(hot, at++, ControlKind::kNumber,
               static_cast<uint32_t>(event.number),
               static_cast<uint32_t>(event.number >> 32), 0);
  }
  if (event.drss_pages != 0 || event.rss_pages != hot.row_rss_pages) {
    PutRss(hot, at++, event);
  }
  if (event.stamp - hot.row_tsc >= kClockStep) {
    PutControl(hot, at++, ControlKind::kClock,
               static_cast<uint32_t>(event.stamp),
               static_cast<uint32_t>(event.stamp >> 32), 0);
  }
  if (extras.stack != 0) {
    PutControl(hot, at++, ControlKind::kStack, extras.stack, 0, 0);
  }
  if (extras.call.events != 0) at = PutCall(hot, at, extras.call);
  SlotAt(hot, at++) = EventSlot{
      event.what_and_code | (extras.context ? kContextBit : 0), event.position,
      event.function, static_cast<uint32_t>(event.stamp)};
  hot.row_number = event.number;
  hot.row_tsc = event.stamp;
  Publish(hot, at);
}

}  // namespace pymemrun
