#include "tracer/calls/call_hooks.h"

#include "tracer/base/clock.h"
#include "tracer/calls/event_log.h"
#include "tracer/calls/profile_event.h"
#include "tracer/calls/quiet_event.h"
#include "tracer/calls/startup.h"
#include "tracer/cpython/frame_mark.h"

#ifndef PYMEMRUN_MONITORING
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

int LogAllHook(PyObject*, PyFrameObject* f, int py_what, PyObject* arg) {
  HotState& hot = Hot();
  if (__builtin_expect(hot.page == nullptr, 0)) return Startup::NotTracing();
  const PymemrunFrame* frame = PymemrunFrameOf(f);
  ClearSpare(frame);
  const uint32_t what = WhatOf(py_what);
  if (__builtin_expect(!hot.time_is_tsc, 0)) {
    return EventLog::LogAllByClock(frame, what, arg);
  }
  const uint64_t stamp = Tsc();
  const uint64_t number = TakeNumber(hot);
  Place place;
  if (__builtin_expect(!IsQuiet(hot, stamp) || frame == hot.root_frame ||
                           !SlotSaysAll(hot, stamp, number) ||
                           !KnownPlaceOf(hot, frame, what, arg, &place),
                       0)) {
    return EventLog::LogAllSlow(frame, what, arg, stamp, number);
  }
  PutSlot(hot, place, stamp, number);
  return 0;
}

int FilterHook(PyObject*, PyFrameObject* f, int py_what, PyObject* arg) {
  HotState& hot = Hot();
  if (__builtin_expect(hot.page == nullptr, 0)) return Startup::NotTracing();
  const PymemrunFrame* frame = PymemrunFrameOf(f);
  ClearSpare(frame);
  const uint32_t what = WhatOf(py_what);
  if (__builtin_expect(!hot.time_is_tsc, 0)) {
    return EventLog::FilterByClock(frame, what, arg);
  }
  const uint64_t stamp = Tsc();
  const uint64_t number = TakeNumber(hot);
  Place place;
  if (__builtin_expect(
          !IsQuiet(hot, stamp) || frame == hot.root_frame ||
              !KnownPlaceOf(hot, frame, what, arg, &place) ||
              (hot.quiet_may_pass && Passes(hot, what, place.flags)),
          0)) {
    return EventLog::FilterSlow(frame, what, arg, stamp, number);
  }
  KeepRaw(hot, place, stamp, number);
  return 0;
}

// Installed in their stead with --verify-rss, so that the usual ones need not
// even ask: every event takes the slow half, and is verified there.
template <int (*kSlow)(const PymemrunFrame*, uint32_t, PyObject*, uint64_t,
                       uint64_t)>
int VerifyingHook(PyObject*, PyFrameObject* f, int py_what, PyObject* arg) {
  HotState& hot = Hot();
  if (hot.page == nullptr) return Startup::NotTracing();
  const PymemrunFrame* frame = PymemrunFrameOf(f);
  ClearSpare(frame);
  return kSlow(frame, WhatOf(py_what), arg, TimeStamp(hot.time_is_tsc),
               TakeNumber(hot));
}

}  // namespace

PymemrunHook CallHooks::hook(const EventLog& log) {
  const bool all = log.logs_all();
  if (log.verifies()) {
    return all ? VerifyingHook<EventLog::VerifyAllSlow>
               : VerifyingHook<EventLog::VerifyFilterSlow>;
  }
  return all ? LogAllHook : FilterHook;
}

}  // namespace pymemrun
#endif  // PYMEMRUN_MONITORING
