// What the hooks of all CPython versions share: what is done about an event
// once the interpreter's way of telling it is behind, and the slow halves, for
// events at which more than clock and place changes. GIL held; nothing
// allocates.
#ifndef PYMEMRUN_TRACER_EVENT_LOG_H_
#define PYMEMRUN_TRACER_EVENT_LOG_H_

#include "tracer/clock.h"
#include "tracer/code_registry.h"
#include "tracer/event_ring.h"
#include "tracer/hot_state.h"
#include "tracer/row_writer.h"
#include "tracer/rss_gauge.h"
#include "tracer/session.h"

namespace pymemrun {

class EventLog {
 public:
  // Makes what the hooks need. Returns false with errno set.
  static bool Create(const TraceConfig* config);

  // Whether every event is logged, and nothing but the event.
  static bool logs_all();
  static bool verifies();  // --verify-rss
  // Rows that there were to write so far, context included.
  static uint64_t RowsMade(const ControlPage& page);

  // Between two events: what RSS has changed by since the first of them is not
  // the second's, `number`; dRSS counts from here.
  static void PassOverChange(HotState& hot, uint64_t stamp, uint64_t number);

  // Slow halves. `arg` is the C function of a C event; only what it says of
  // itself is looked at. They return 0, as a profile function does.
  static int LogAllSlow(const PymemrunFrame* frame, uint32_t what,
                        PyObject* arg, uint64_t stamp, uint64_t number);
  static int FilterSlow(const PymemrunFrame* frame, uint32_t what,
                        PyObject* arg, uint64_t stamp, uint64_t number);
  // The same with --verify-rss: then every event is slow.
  static int VerifyAllSlow(const PymemrunFrame* frame, uint32_t what,
                           PyObject* arg, uint64_t stamp, uint64_t number);
  static int VerifyFilterSlow(const PymemrunFrame* frame, uint32_t what,
                              PyObject* arg, uint64_t stamp, uint64_t number);
  // And where the TSC cannot be trusted.
  static int LogAllByClock(const PymemrunFrame* frame, uint32_t what,
                           PyObject* arg);
  static int FilterByClock(const PymemrunFrame* frame, uint32_t what,
                           PyObject* arg);
};

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

#endif  // PYMEMRUN_TRACER_EVENT_LOG_H_
