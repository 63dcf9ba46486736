#include "tracer/calls/call_hooks.h"

#include "tracer/base/clock.h"
#include "tracer/calls/event_log.h"
#include "tracer/calls/open_calls.h"
#include "tracer/calls/quiet_event.h"
#include "tracer/calls/startup.h"
#include "tracer/cpython/frame_mark.h"

#ifdef PYMEMRUN_PROFILE_SLOTS
namespace pymemrun {
namespace {

// The place of the event, if code and function are in the caches of the hot
// state. Returns false if the slow half must look.
inline bool KnownPlaceOf(HotState& hot, const PymemrunFrame* frame,
                         uint32_t what, PyObject* arg, Place* place) {
  SiteId code, function = {0, 0};
  if (!KnownCode(hot, PymemrunFrameCode(frame), &code)) return false;
  if (IsCEvent(what)) {
    if (!KnownFunction(hot, arg, IsCCall(what), &function)) return false;
  }
  *place = MakePlace(what, code, PymemrunFramePosition(frame), function);
  return true;
}

// The profile function, in its fast half. kAll: every event becomes a row.
// kCalls: calls are followed to their ends. Anything unusual goes to the slow
// half.
template <bool kAll, bool kCalls>
int Hook(PyObject*, PyFrameObject* f, int py_what, PyObject* arg) {
  HotState& hot = Hot();
  if (__builtin_expect(hot.page == nullptr, 0)) return Startup::NotTracing();
  const PymemrunFrame* frame = PymemrunFrameOf(f);
  ClearSpare(frame);
  const uint32_t what = WhatOf(py_what);
  if (__builtin_expect(!hot.time_is_tsc, 0)) {
    return SlowHalf<kAll, false>::TakeByClock(frame, what, arg);
  }
  const uint64_t stamp = Tsc();
  const uint64_t number = TakeNumber(hot);
  Place place;
  if (__builtin_expect(
          !IsQuiet(hot, stamp) || frame == hot.root_frame ||
              (kAll && !SlotSaysAll(hot, stamp, number)) ||
              !KnownPlaceOf(hot, frame, what, arg, &place) ||
              (!kAll && hot.quiet_may_pass && Passes(hot, what, place.flags)) ||
              (kCalls && !IsQuietCall(hot, frame, what, stamp, number)),
          0)) {
    return SlowHalf<kAll, false>::Take(frame, what, arg, stamp, number);
  }
  if (kAll) {
    PutSlot(hot, place, stamp, number);
  } else {
    KeepRaw(hot, place, stamp, number);
  }
  return 0;
}

// Installed instead with --verify-rss, so that the usual hooks need not ask for
// it: every event takes the slow half, which verifies RSS.
template <bool kAll>
int VerifyingHook(PyObject*, PyFrameObject* f, int py_what, PyObject* arg) {
  HotState& hot = Hot();
  if (hot.page == nullptr) return Startup::NotTracing();
  const PymemrunFrame* frame = PymemrunFrameOf(f);
  ClearSpare(frame);
  return SlowHalf<kAll, true>::Take(
      frame, WhatOf(py_what), arg, TimeStamp(hot.time_is_tsc), TakeNumber(hot));
}

}  // namespace

PymemrunHook CallHooks::hook(const EventLog& log) {
  const bool all = log.logs_all();
  if (log.verifies()) return all ? VerifyingHook<true> : VerifyingHook<false>;
  if (log.follows_calls()) return Hook<false, true>;
  return all ? Hook<true, false> : Hook<false, false>;
}

}  // namespace pymemrun
#endif  // PYMEMRUN_PROFILE_SLOTS
