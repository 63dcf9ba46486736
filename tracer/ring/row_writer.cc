#include "tracer/ring/row_writer.h"

#include "tracer/base/clock.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {
namespace {

// A row and the state before it: thread, number, RSS, clock, stack.
constexpr uint32_t kMaxRowSlots = 6;

void PutRss(HotState& hot, uint64_t at, const RawEvent& event) {
  const bool estimated = (event.rss_pages & kRssEstimated) != 0;
  PutControl(hot, at, ControlKind::kRss,
             static_cast<uint32_t>(RssPages(event.rss_pages)),
             static_cast<uint32_t>(event.drss_pages),
             estimated ? kRssInexact : 0);
  hot.row_rss_pages = event.rss_pages;
}

}  // namespace

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

void PutRow(HotState& hot, const RawEvent& event, bool context,
            uint32_t stack) {
  ++hot.rows_offered;
  if ((event.what_and_code & kIdMask) == 0) {  // its code found no room
    CountLoss(hot, event.number);
    return;
  }
  if (hot.loss.rows != 0) FlushLoss(hot);
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
  if (stack != 0) PutControl(hot, at++, ControlKind::kStack, stack, 0, 0);
  SlotAt(hot, at++) = EventSlot{
      event.what_and_code | (context ? kContextBit : 0), event.position,
      event.function, static_cast<uint32_t>(event.stamp)};
  hot.row_number = event.number;
  hot.row_tsc = event.stamp;
  Publish(hot, at);
}

}  // namespace pymemrun
