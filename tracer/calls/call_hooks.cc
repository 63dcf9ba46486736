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

// Where it happened, when code and function are known already, without a call.
// Returns false when the slow half must look.
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

// Logs all events, or filters them, and follows calls to their ends or does
// not.
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

// Installed in their stead with --verify-rss, so that the usual ones need not
// even ask: every event takes the slow half, and is verified there.
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
