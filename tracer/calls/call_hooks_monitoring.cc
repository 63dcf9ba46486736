#include "tracer/base/clock.h"
#include "tracer/calls/call_hooks.h"
#include "tracer/calls/event_log.h"
#include "tracer/calls/monitoring_callbacks.h"
#include "tracer/calls/quiet_event.h"
#include "tracer/calls/startup.h"

#ifdef PYMEMRUN_MONITORING
namespace pymemrun {
namespace {

constexpr uint32_t WhatOf(PymemrunCallback callback) {
  return static_cast<uint32_t>(EventOf(callback));
}

// The offset of an event in code units.
inline uint32_t PositionOf(PyObject* offset) {
  return PymemrunOffsetOf(offset) / 2;
}

// After the event: calls the script's own profiler, if there is one.
inline PyObject* Finish(const HotState& hot, PymemrunCallback callback,
                        PyObject* self, PyObject* const* args, size_t nargsf) {
  if (__builtin_expect(*hot.event_users > 1, 0)) {
    return OwnProfiler::Tell(callback, self, args, nargsf);
  }
  return Py_None;  // immortal
}

// An event without a session, for instance in a forked child: removes the
// hooks.
[[gnu::noinline, gnu::cold]] PyObject* NotTracing(PymemrunCallback callback,
                                                  PyObject* self,
                                                  PyObject* const* args,
                                                  size_t nargsf) {
  Startup::NotTracing();
  return OwnProfiler::Tell(callback, self, args, nargsf);
}

// The slow half wants a function object, which sys.monitoring does not always
// give. So one is made on the stack, of the fields that the slow half reads.
template <bool kAll, bool kVerify>
[[gnu::noinline]] PyObject* RecordSlow(PymemrunCallback callback,
                                       PyObject* self, PyObject* const* args,
                                       size_t nargsf, uint64_t stamp,
                                       uint64_t number) {
  const PymemrunFrame* frame = PymemrunTopFrame(PyThreadState_Get());
  const uint32_t what = WhatOf(callback);
  PyCFunctionObject function = {};
  CalledFunction called;
  if (IsCEvent(what) && CFunctionOf(args, nargsf, &called)) {
    function.m_ml = const_cast<PyMethodDef*>(called.method);
    function.m_self = called.self;
    function.m_module = called.module;
  }
  SlowHalf<kAll, kVerify>::Take(
      frame, what, reinterpret_cast<PyObject*>(&function), stamp, number);
  return Finish(Hot(), callback, self, args, nargsf);
}

// Takes the slow half at every event: with --verify-rss, without a usable TSC,
// and where an exception leaves or enters a frame. There sys.setprofile shows
// the line that raised. The frame knows that line, the offset in the arguments
// does not.
template <bool kAll, bool kVerify, PymemrunCallback kCallback>
PyObject* SlowHook(PyObject* self, PyObject* const* args, size_t nargsf,
                   PyObject*) {
  HotState& hot = Hot();
  if (hot.page == nullptr) return NotTracing(kCallback, self, args, nargsf);
  if (kCallback == kPymemrunUnwind) {
    hot.parts.stacks->Unwinds(PymemrunTopFrame(PyThreadState_Get()));
  }
  CalledFunction unused;
  if (IsCEvent(WhatOf(kCallback)) && !CFunctionOf(args, nargsf, &unused)) {
    return Finish(hot, kCallback, self, args, nargsf);
  }
  return RecordSlow<kAll, kVerify>(kCallback, self, args, nargsf,
                                   TimeStamp(hot.time_is_tsc), TakeNumber(hot));
}

// The id of the function, if it is known. `is_last`: the function is that of
// the last C call, whose id is still in the hot state.
template <PymemrunCallback kCallback>
inline bool KnownCalled(HotState& hot, PyObject* const* args, bool is_last,
                        const CalledFunction& called, SiteId* found) {
  if (is_last) {
    *found = {hot.last_function_id, hot.last_function_flags};
    hot.last_function = nullptr;
    return true;
  }
  const void* self_type = SelfType(called.self);
  if (!KnownMethod(hot, called.method, self_type, found)) return false;
  if (kCallback == kPymemrunCall) {
    hot.last_function = args[2];
    hot.last_argument = args[3];
    hot.last_function_id = found->id;
    hot.last_function_flags = found->flags;
  }
  return true;
}

template <PymemrunCallback kCallback>
inline bool KnownPlaceOf(HotState& hot, PyObject* const* args, bool is_last,
                         const CalledFunction& called, Place* place) {
  constexpr uint32_t kWhat = WhatOf(kCallback);
  SiteId code, function = {0, 0};
  if (!KnownCode(hot, reinterpret_cast<PyCodeObject*>(args[0]), &code)) {
    return false;
  }
  if (IsCEvent(kWhat) &&
      !KnownCalled<kCallback>(hot, args, is_last, called, &function)) {
    return false;
  }
  *place = MakePlace(kWhat, code, PositionOf(args[1]), function);
  return true;
}

template <bool kAll, PymemrunCallback kCallback>
inline PyObject* Record(HotState& hot, PyObject* self, PyObject* const* args,
                        size_t nargsf, bool is_last,
                        const CalledFunction& called) {
  constexpr uint32_t kWhat = WhatOf(kCallback);
  constexpr bool kMayEndRoot =
      kWhat == static_cast<uint32_t>(EventWhat::kReturn);
  const uint64_t stamp = Tsc();
  const uint64_t number = TakeNumber(hot);
  Place place;
  if (__builtin_expect(
          !IsQuiet(hot, stamp) || (kMayEndRoot && args[0] == hot.root_code) ||
              (kAll && !SlotSaysAll(hot, stamp, number)) ||
              !KnownPlaceOf<kCallback>(hot, args, is_last, called, &place) ||
              (!kAll && hot.quiet_may_pass && Passes(hot, kWhat, place.flags)),
          0)) {
    return RecordSlow<kAll, false>(kCallback, self, args, nargsf, stamp,
                                   number);
  }
  if (kAll) {
    PutSlot(hot, place, stamp, number);
  } else {
    KeepRaw(hot, place, stamp, number);
  }
  return Finish(hot, kCallback, self, args, nargsf);
}

// A C event whose callable must be examined more closely.
template <bool kAll, PymemrunCallback kCallback>
[[gnu::noinline]] PyObject* RecordUnusual(PyObject* self, PyObject* const* args,
                                          size_t nargsf) {
  CalledFunction called;
  if (!CFunctionOf(args, nargsf, &called)) {
    return Finish(Hot(), kCallback, self, args, nargsf);
  }
  return Record<kAll, kCallback>(Hot(), self, args, nargsf, false, called);
}

template <bool kAll, PymemrunCallback kCallback>
PyObject* Hook(PyObject* self, PyObject* const* args, size_t nargsf,
               PyObject*) {
  HotState& hot = Hot();
  if (__builtin_expect(hot.page == nullptr, 0)) {
    return NotTracing(kCallback, self, args, nargsf);
  }
  CalledFunction called = {nullptr, nullptr, nullptr};
  bool is_last = false;
  if constexpr (IsCEvent(WhatOf(kCallback))) {
    // The end of a C call usually belongs to the last one that began.
    is_last = kCallback != kPymemrunCall && args[2] == hot.last_function &&
              args[3] == hot.last_argument;
    if (!is_last) {
      const Look look = LookAtCallable(args, &called);
      if (look == Look::kNoFunction) {
        return Finish(hot, kCallback, self, args, nargsf);
      }
      if (__builtin_expect(look == Look::kUnsure, 0)) {
        return RecordUnusual<kAll, kCallback>(self, args, nargsf);
      }
    }
  }
  return Record<kAll, kCallback>(hot, self, args, nargsf, is_last, called);
}

template <bool kAll>
constexpr PymemrunCallbacks kHooks = {
    {Hook<kAll, kPymemrunStart>, SlowHook<kAll, false, kPymemrunThrow>,
     Hook<kAll, kPymemrunReturn>, SlowHook<kAll, false, kPymemrunUnwind>,
     Hook<kAll, kPymemrunCall>, Hook<kAll, kPymemrunCReturn>,
     Hook<kAll, kPymemrunCRaise>}};

// Calls are followed by their frames, which the arguments do not name. So the
// events of Python calls take the slow half.
constexpr PymemrunCallbacks kCallHooks = {
    {SlowHook<false, false, kPymemrunStart>,
     SlowHook<false, false, kPymemrunThrow>,
     SlowHook<false, false, kPymemrunReturn>,
     SlowHook<false, false, kPymemrunUnwind>, Hook<false, kPymemrunCall>,
     Hook<false, kPymemrunCReturn>, Hook<false, kPymemrunCRaise>}};

template <bool kAll, bool kVerify>
constexpr PymemrunCallbacks kSlowHooks = {
    {SlowHook<kAll, kVerify, kPymemrunStart>,
     SlowHook<kAll, kVerify, kPymemrunThrow>,
     SlowHook<kAll, kVerify, kPymemrunReturn>,
     SlowHook<kAll, kVerify, kPymemrunUnwind>,
     SlowHook<kAll, kVerify, kPymemrunCall>,
     SlowHook<kAll, kVerify, kPymemrunCReturn>,
     SlowHook<kAll, kVerify, kPymemrunCRaise>}};

}  // namespace

PymemrunHook CallHooks::hook(const EventLog& log) {
  const bool all = log.logs_all();
  if (log.verifies()) {
    return all ? &kSlowHooks<true, true> : &kSlowHooks<false, true>;
  }
  if (!Hot().time_is_tsc) {
    return all ? &kSlowHooks<true, false> : &kSlowHooks<false, false>;
  }
  if (log.follows_calls()) return &kCallHooks;
  return all ? &kHooks<true> : &kHooks<false>;
}

}  // namespace pymemrun
#endif  // PYMEMRUN_MONITORING
