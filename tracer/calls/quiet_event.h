// The fast halves of the hooks, for events at which only clock and place
// change: whether that is so, and what is done about them. GIL held.
#ifndef PYMEMRUN_TRACER_CALLS_QUIET_EVENT_H_
#define PYMEMRUN_TRACER_CALLS_QUIET_EVENT_H_

#include "tracer/base/hot_state.h"
#include "tracer/code/known_sites.h"
#include "tracer/gauge/rss_signs.h"
#include "tracer/ring/event_ring.h"
#include "tracer/ring/row_writer.h"

namespace pymemrun {

// Where an event happened.
struct Place {
  uint32_t what_and_code;
  uint32_t position;
  uint32_t function;
  uint32_t flags;  // kPasses*
};

constexpr bool IsCEvent(uint32_t what) {
  return what >= static_cast<uint32_t>(EventWhat::kCCall);
}

constexpr bool IsCCall(uint32_t what) {
  return what == static_cast<uint32_t>(EventWhat::kCCall);
}

inline Place MakePlace(uint32_t what, SiteId code, uint32_t position,
                       SiteId function) {
  // A Python event's function is its code: what the filters say of its name
  // stands in the code's flags.
  return {(what << kWhatShift) | code.id, position, function.id,
          IsCEvent(what) ? (code.flags & kPassesFile) | function.flags
                         : code.flags};
}

// The event's number; counts it.
inline uint64_t TakeNumber(HotState& hot) {
  const uint64_t number = NextNumber(hot);
  hot.page->next_number.store(number + 1, std::memory_order_relaxed);
  return number;
}

// Nothing but the clock and the place differs from the event before: the
// thread is the same, and RSS cannot have moved.
inline bool IsQuiet(const HotState& hot, uint64_t stamp) {
  return !RssMayHaveMoved(hot, stamp) && t_thread_id == hot.current_thread;
}

// The row before in the ring is the event before, and there is room: then a
// quiet event's slot says it all.
inline bool SlotSaysAll(const HotState& hot, uint64_t stamp, uint64_t number) {
  return number == hot.row_number + 1 && stamp - hot.row_tsc < kClockStep &&
         hot.head < hot.limit;
}

// REQUIRES: a quiet event, SlotSaysAll.
inline void PutSlot(HotState& hot, const Place& place, uint64_t stamp,
                    uint64_t number) {
  SlotAt(hot, hot.head) =
      EventSlot{place.what_and_code, place.position, place.function,
                static_cast<uint32_t>(stamp)};
  hot.row_number = number;
  hot.row_tsc = stamp;
  Publish(hot, hot.head + 1);
}

// Whether the event passes every filter of the command line but the change of
// RSS.
inline bool Passes(const HotState& hot, uint32_t what, uint32_t flags) {
  return (hot.kinds >> what & 1) && flags == (kPassesFile | kPassesName) &&
         hot.thread_passes;
}

// Keeps a quiet event raw where the next event finds it as its context; field
// by field, because a copy would have to wait for the stores it is made of.
inline void KeepRaw(HotState& hot, const Place& place, uint64_t stamp,
                    uint64_t number) {
  RawEvent& event = hot.history[number & hot.history_mask];
  event.number = number;
  event.stamp = stamp;
  event.what_and_code = place.what_and_code;
  event.position = place.position;
  event.function = place.function;
  event.thread = hot.current_thread;
  event.rss_pages = hot.rss_pages;
  event.drss_pages = 0;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_QUIET_EVENT_H_
