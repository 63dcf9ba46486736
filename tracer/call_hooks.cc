#include "tracer/call_hooks.h"

#include "tracer/clock.h"
#include "tracer/code_registry.h"
#include "tracer/event_ring.h"
#include "tracer/own_memory.h"
#include "tracer/profile_event.h"
#include "tracer/rss_gauge.h"
#include "tracer/rss_verifier.h"
#include "tracer/stack_walk.h"
#include "tracer/startup.h"
#include "tracer/thread_registry.h"
#include "tracer/tracing_cost.h"

namespace pymemrun {
namespace {

const TraceConfig* g_config = nullptr;

// Returns dRSS in pages.
[[gnu::noinline]] int32_t UpdateRssSlow(HotState& hot, uint64_t stamp,
                                        uint64_t number,
                                        const PymemrunFrame* frame) {
  PeakFinding peak = {};
  const int32_t change = RssGauge::Update(hot, stamp, number, &peak);
  if (peak.rose) {
    const PeakPayload payload = {peak.hwm_pages, peak.after_number, number,
                                 stamp};
    const Piece piece = {&payload, sizeof(payload)};
    PutPayload(hot, ControlKind::kPeak, 0, 0, &piece, 1);
  }
  if (change > 0) TracingCost::FramesAt(frame);
  return change;
}

// A thread's first event, or the first after another thread's.
[[gnu::noinline, gnu::cold]] void EnterThreadSlow(HotState& hot,
                                                  const PymemrunFrame* frame) {
  if (t_thread_id == 0) ThreadRegistry::Define(hot, frame);
  hot.thread_passes = ThreadRegistry::CurrentPasses();
  hot.current_thread = t_thread_id;
}

// Where an event happened.
struct Place {
  uint32_t what_and_code;
  uint32_t position;
  uint32_t function;
  uint32_t flags;  // kPasses*
};

inline bool IsCEvent(uint32_t what) {
  return what >= static_cast<uint32_t>(EventWhat::kCCall);
}

inline bool IsCCall(uint32_t what) {
  return what == static_cast<uint32_t>(EventWhat::kCCall);
}

inline Place MakePlace(uint32_t what, SiteId code, const PymemrunFrame* frame,
                       SiteId function) {
  // A Python event's function is its code: what the filters say of its name
  // stands in the code's flags.
  return {(what << kWhatShift) | code.id, PymemrunFramePosition(frame),
          function.id,
          IsCEvent(what) ? (code.flags & kPassesFile) | function.flags
                         : code.flags};
}

Place PlaceOf(HotState& hot, const PymemrunFrame* frame, uint32_t what,
              PyObject* arg) {
  const SiteId code = CodeOf(hot, PymemrunFrameCode(frame), frame);
  return MakePlace(
      what, code, frame,
      IsCEvent(what) ? FunctionOf(hot, arg, IsCCall(what)) : SiteId{0, 0});
}

// The same when both are known already, without a call. Returns false when the
// slow half must look.
inline bool KnownPlaceOf(HotState& hot, const PymemrunFrame* frame,
                         uint32_t what, PyObject* arg, Place* place) {
  SiteId code, function = {0, 0};
  if (!KnownCode(hot, PymemrunFrameCode(frame), &code)) return false;
  if (IsCEvent(what)) {
    if (!KnownFunction(hot, arg, IsCCall(what), &function)) return false;
  }
  *place = MakePlace(what, code, frame, function);
  return true;
}

// The event's number; counts it.
inline uint64_t TakeNumber(HotState& hot) {
  const uint64_t number = NextNumber(hot);
  hot.page->next_number.store(number + 1, std::memory_order_relaxed);
  return number;
}

inline uint32_t Stack(HotState& hot, const PymemrunFrame* frame) {
  return hot.stacks ? StackWalk::Intern(hot, frame) : 0;
}

// Nothing but the clock and the place differs from the event before: the
// thread is the same, RSS cannot have moved, and the frame is not the one whose
// RETURN ends the user's code.
inline bool IsQuiet(const HotState& hot, uint64_t stamp,
                    const PymemrunFrame* frame) {
  return !RssMayHaveMoved(hot, stamp) && t_thread_id == hot.current_thread &&
         frame != hot.root_frame;
}

// The part of a slow half that every event of its kind shares.
template <bool kVerify>
inline RawEvent Examine(HotState& hot, const PymemrunFrame* frame,
                        uint32_t what, PyObject* arg, uint64_t stamp,
                        uint64_t number, uint32_t* flags) {
  int32_t drss_pages = 0;
  if (RssMayHaveMoved(hot, stamp)) {
    drss_pages = UpdateRssSlow(hot, stamp, number, frame);
  }
  if constexpr (kVerify) RssVerifier::Check(hot, stamp);
  const Place place = PlaceOf(hot, frame, what, arg);
  if (t_thread_id != hot.current_thread) EnterThreadSlow(hot, frame);
  *flags = place.flags;
  return {number,         stamp,          place.what_and_code,
          place.position, place.function, hot.current_thread,
          hot.rss_pages,  drss_pages};
}

inline int AfterEvent(const HotState& hot, const PymemrunFrame* frame,
                      uint32_t what) {
  if (frame == hot.root_frame &&
      what == static_cast<uint32_t>(EventWhat::kReturn)) {
    return Startup::RootReturned();
  }
  return 0;
}

template <bool kVerify>
[[gnu::noinline]] int LogAllSlow(const PymemrunFrame* frame, uint32_t what,
                                 PyObject* arg, uint64_t stamp,
                                 uint64_t number) {
  HotState& hot = Hot();
  uint32_t flags;
  PutRow(hot, Examine<kVerify>(hot, frame, what, arg, stamp, number, &flags),
         false, 0);
  return AfterEvent(hot, frame, what);
}

// Where the TSC cannot be trusted, every event takes the slow half.
[[gnu::noinline]] int LogAllByClock(const PymemrunFrame* frame, uint32_t what,
                                    PyObject* arg) {
  HotState& hot = Hot();
  return LogAllSlow<false>(frame, what, arg, MonotonicNs(), TakeNumber(hot));
}

int LogAllHook(PyObject*, PyFrameObject* f, int py_what, PyObject* arg) {
  HotState& hot = Hot();
  if (__builtin_expect(hot.page == nullptr, 0)) return Startup::NotTracing();
  const PymemrunFrame* frame = PymemrunFrameOf(f);
  const uint32_t what = WhatOf(py_what);
  if (__builtin_expect(!hot.time_is_tsc, 0)) {
    return LogAllByClock(frame, what, arg);
  }
  const uint64_t stamp = Tsc();
  const uint64_t number = TakeNumber(hot);
  Place place;
  // The row before in the ring is the event before: then a slot says it all.
  if (__builtin_expect(
          !IsQuiet(hot, stamp, frame) || number != hot.row_number + 1 ||
              stamp - hot.row_tsc >= kClockStep || hot.head >= hot.limit ||
              !KnownPlaceOf(hot, frame, what, arg, &place),
          0)) {
    return LogAllSlow<false>(frame, what, arg, stamp, number);
  }
  SlotAt(hot, hot.head) =
      EventSlot{place.what_and_code, place.position, place.function,
                static_cast<uint32_t>(stamp)};
  hot.row_number = number;
  hot.row_tsc = stamp;
  Publish(hot, hot.head + 1);
  return 0;
}

inline uint32_t Magnitude(int32_t pages) {
  return static_cast<uint32_t>(pages < 0 ? -pages : pages);
}

// Whether the event passes every filter of the command line.
inline bool Passes(const HotState& hot, int32_t drss_pages, uint32_t what,
                   uint32_t flags) {
  const int32_t change =
      hot.drss_since_logged
          ? static_cast<int32_t>(hot.rss_pages - hot.logged_rss_pages)
          : drss_pages;
  return Magnitude(change) >= hot.min_drss_pages && (hot.kinds >> what & 1) &&
         flags == (kPassesFile | kPassesName) && hot.thread_passes;
}

// The previous events that are the context of `number`, have valid ids, and are
// not logged yet.
void LogContext(HotState& hot, uint64_t number) {
  uint64_t at = number > hot.context ? number - hot.context : 0;
  if (at < CodeRegistry::valid_from()) at = CodeRegistry::valid_from();
  for (; at < number; ++at) {
    const RawEvent& past = hot.history[at & hot.history_mask];
    const bool logged = hot.any_row && at <= hot.row_number;
    if (past.number == at && past.what_and_code != 0 && !logged) {
      PutRow(hot, past, true, 0);
    }
  }
}

// Logs the event after its context.
[[gnu::noinline]] void LogWithContext(HotState& hot, RawEvent& event,
                                      const PymemrunFrame* frame) {
  hot.logged_rss_pages = event.rss_pages;
  const uint32_t generation = CodeRegistry::generation();
  const uint32_t stack = Stack(hot, frame);
  if (__builtin_expect(generation != CodeRegistry::generation(), 0)) {
    // Looking at the frames has emptied the table of code objects.
    const SiteId site =
        CodeRegistry::FindCode(hot, PymemrunFrameCode(frame), frame);
    event.what_and_code = (event.what_and_code & ~kIdMask) | site.id;
  }
  LogContext(hot, event.number);
  PutRow(hot, event, false, stack);
  hot.any_row = true;
}

template <bool kVerify>
[[gnu::noinline]] int FilterSlow(const PymemrunFrame* frame, uint32_t what,
                                 PyObject* arg, uint64_t stamp,
                                 uint64_t number) {
  HotState& hot = Hot();
  uint32_t flags;
  RawEvent event =
      Examine<kVerify>(hot, frame, what, arg, stamp, number, &flags);
  hot.history[number & hot.history_mask] = event;
  if (Passes(hot, event.drss_pages, what, flags)) {
    LogWithContext(hot, event, frame);
  }
  return AfterEvent(hot, frame, what);
}

[[gnu::noinline]] int FilterByClock(const PymemrunFrame* frame, uint32_t what,
                                    PyObject* arg) {
  HotState& hot = Hot();
  return FilterSlow<false>(frame, what, arg, MonotonicNs(), TakeNumber(hot));
}

int FilterHook(PyObject*, PyFrameObject* f, int py_what, PyObject* arg) {
  HotState& hot = Hot();
  if (__builtin_expect(hot.page == nullptr, 0)) return Startup::NotTracing();
  const PymemrunFrame* frame = PymemrunFrameOf(f);
  const uint32_t what = WhatOf(py_what);
  if (__builtin_expect(!hot.time_is_tsc, 0)) {
    return FilterByClock(frame, what, arg);
  }
  const uint64_t stamp = Tsc();
  const uint64_t number = TakeNumber(hot);
  Place place;
  if (__builtin_expect(
          !IsQuiet(hot, stamp, frame) ||
              !KnownPlaceOf(hot, frame, what, arg, &place) ||
              (hot.quiet_may_pass && Passes(hot, 0, what, place.flags)),
          0)) {
    return FilterSlow<false>(frame, what, arg, stamp, number);
  }
  // Kept raw where the next event finds it as its context; field by field,
  // because a copy would have to wait for the stores it is made of.
  RawEvent& event = hot.history[number & hot.history_mask];
  event.number = number;
  event.stamp = stamp;
  event.what_and_code = place.what_and_code;
  event.position = place.position;
  event.function = place.function;
  event.thread = hot.current_thread;
  event.rss_pages = hot.rss_pages;
  event.drss_pages = 0;
  return 0;
}

// Installed in their stead with --verify-rss, so that the usual ones need not
// even ask: every event takes the slow half, and is verified there.
template <int (*kSlow)(const PymemrunFrame*, uint32_t, PyObject*, uint64_t,
                       uint64_t)>
int VerifyingHook(PyObject*, PyFrameObject* f, int py_what, PyObject* arg) {
  HotState& hot = Hot();
  if (hot.page == nullptr) return Startup::NotTracing();
  return kSlow(PymemrunFrameOf(f), WhatOf(py_what), arg,
               TimeStamp(hot.time_is_tsc), TakeNumber(hot));
}

bool HasFilters(const TraceConfig& c) {
  return c.kinds != 0x1f ||
         c.include_count + c.exclude_count + c.function_count + c.thread_count >
             0;
}

// The last events, the one under way among them.
bool MakeHistory(HotState& hot, uint32_t context) {
  // With everything logged each event's context is the row before it.
  hot.context = CallHooks::logs_all() ? 0 : context;
  uint32_t slots = 1;
  while (slots < hot.context + 1) slots *= 2;
  hot.history =
      static_cast<RawEvent*>(OwnMemory::Map(slots * sizeof(RawEvent)));
  if (hot.history == nullptr) return false;
  hot.history_mask = slots - 1;
  return true;
}

}  // namespace

bool CallHooks::Create(const TraceConfig* config) {
  g_config = config;
  HotState& hot = Hot();
  const uint64_t page = hot.page_bytes;
  const uint64_t pages = (config->min_drss_bytes + page - 1) / page;
  hot.min_drss_pages =
      static_cast<uint32_t>(pages < INT32_MAX ? pages : INT32_MAX);
  hot.kinds = config->kinds;
  hot.drss_since_logged = config->drss_since_logged;
  hot.stacks = config->stacks;
  hot.quiet_may_pass = hot.min_drss_pages == 0 || hot.drss_since_logged;
  if (config->stacks && !StackWalk::Create()) return false;
  return MakeHistory(hot, config->context);
}

bool CallHooks::logs_all() {
  return g_config->min_drss_bytes == 0 && !HasFilters(*g_config);
}

Py_tracefunc CallHooks::hook() {
  const bool plain = logs_all() && !g_config->stacks;
  if (g_config->verify_rss) {
    return plain ? VerifyingHook<LogAllSlow<true>>
                 : VerifyingHook<FilterSlow<true>>;
  }
  return plain ? LogAllHook : FilterHook;
}

}  // namespace pymemrun
