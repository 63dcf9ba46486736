#include "tracer/calls/profile_slot.h"

#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/calls/call_hooks.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/frame_mark.h"
#include "tracer/cpython/slot_watch.h"

#ifdef PYMEMRUN_PROFILE_SLOTS
namespace pymemrun {
namespace {

// The running C calls that a profiler of the script was told about. CPython
// reports the end of a C call only if there was a profiler at its start. That
// of the tracer was there, so the end of sys.setprofile itself would be
// reported to a profiler that does not expect it. One object per thread; needs
// the GIL.
class ToldCalls {
 public:
#ifdef PYMEMRUN_FRAME_MARKS
  // The frame itself keeps this: each greenlet has running calls of its own,
  // and any may end first.
  void Forget() {}
  void Begins(const PymemrunFrame* frame) { FrameSpare(frame) = kToldOfCall; }
  bool Ends(const PymemrunFrame* frame) {
    const bool told = FrameSpare(frame) == kToldOfCall;
    ClearSpare(frame);
    return told;
  }
#else
  // No running call was reported.
  void Forget() { count_ = 0; }
  void Begins(const PymemrunFrame*) { ++count_; }
  // Whether its start was reported.
  bool Ends(const PymemrunFrame*) {
    if (count_ == 0) return false;
    --count_;
    return true;
  }

 private:
  uint64_t count_;
#endif
};

constinit ProfileSlot* g_slot = nullptr;

// The script's profiler in this thread's slot; func is null without one.
struct ScriptsProfiler {
  Py_tracefunc func;
  ToldCalls calls;
};
constinit thread_local ScriptsProfiler t_own = {};

// Up to 3.11 each instruction takes longer while a thread has a profile
// function. A loop without calls has no event at which its name could be looked
// at. So each try without an event doubles the pause before the next one. In
// time stamps.
struct NameTries {
  uint64_t not_before;
  uint64_t pause;
};
constinit thread_local NameTries t_tries = {};

// Asked for once: in a forked child a later call would touch a page of the
// interpreter between the first reading of RSS and the first event.
PyInterpreterState* MainInterpreter() {
  static constinit PyInterpreterState* main = nullptr;
  if (main == nullptr) main = PyInterpreterState_Main();
  return main;
}

}  // namespace

struct SlotHooks {
  // Is in the slot instead of the script's profiler.
  static int OwnProfiler(PyObject* object, PyFrameObject* f, int what,
                         PyObject* arg) {
    ScriptsProfiler& own = t_own;
    const PymemrunFrame* frame = PymemrunFrameOf(f);
    if (what == PyTrace_C_CALL) {
      own.calls.Begins(frame);
    } else if (what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION) {
      if (!own.calls.Ends(frame)) return 0;
    } else {
      ClearSpare(frame);
    }
    return own.func(object, f, what, arg);
  }

  // Is in the slot for the watcher.
  static int Watcher(PyObject* object, PyFrameObject* f, int what,
                     PyObject* arg) {
    const auto event = static_cast<EventWhat>(WhatOf(what));
    ClearSpare(PymemrunFrameOf(f));
    const SlotWatcher& watcher = g_slot->watcher_;
    PyObject* const module =
        event >= EventWhat::kCCall
            ? reinterpret_cast<PyCFunctionObject*>(arg)->m_module
            : nullptr;
    if (!watcher.on_event(watcher.context, PymemrunFrameOf(f), event, module)) {
      return 0;
    }
    return g_slot->hook_(object, f, what, arg);
  }

  // Is in the slot for NameThreads(): takes one event, looks at the thread's
  // name and leaves.
  static int Name(PyObject*, PyFrameObject* f, int, PyObject*) {
    ClearSpare(PymemrunFrameOf(f));
    t_tries = {};
    HotState& hot = Hot();
    if (hot.page != nullptr && t_thread_id == 0) {
      g_slot->threads_.Define(hot, PymemrunFrameOf(f));
    } else if (hot.page != nullptr) {
      g_slot->threads_.LookAtName(hot, TimeStamp(hot.time_is_tsc));
    }
    ProfileSlot::Leave();
    return 0;
  }

  static void NoCallCame(PyThreadState* tstate) {
    const HotState& hot = Hot();
    const uint64_t least = hot.staleness * 640;  // 32 ms
    t_tries.pause = t_tries.pause == 0 ? least : t_tries.pause * 2;
    t_tries.not_before = TimeStamp(hot.time_is_tsc) + t_tries.pause;
    PymemrunSetSlot(tstate, nullptr);
  }

  static bool IsNameDue() {
    const uint64_t now = TimeStamp(Hot().time_is_tsc);
    return now >= t_tries.not_before && ThreadRegistry::IsNameOld(now);
  }
};

void ProfileSlot::Use() {
  if (g_slot != nullptr) return;
  g_slot = this;
  PymemrunWatchSlots(Changed);
}

void ProfileSlot::Arm(PyThreadState* tstate) {
  // The thread's next event may be the return of a call that was not seen.
  Hot().last_function = nullptr;
  stacks_.EventsMissed();
  PymemrunSetSlot(tstate, hook_);
}

// Whether the hook belongs into the slot of the thread.
bool ProfileSlot::WantsHook(PyThreadState* tstate) const {
  return (!only_names_ || t_thread_id == 0) && MayHook(tstate);
}

// Whether tracing is on and the thread belongs to the main interpreter.
bool ProfileSlot::MayHook(PyThreadState* tstate) const {
  return hook_ != nullptr && Hot().page != nullptr && tstate != nullptr &&
         PyThreadState_GetInterpreter(tstate) == MainInterpreter();
}

void ProfileSlot::NameThreads(bool renames) {
  Use();
  threads_.Define(Hot(), nullptr);
  hook_ = SlotHooks::Name;
  only_names_ = true;
  renames_ = renames;
}

void ProfileSlot::ArmAll(Py_tracefunc hook) {
  Use();
  hook_ = hook;
  only_names_ = false;
  stacks_.HeardBy(hook);
  PymemrunKeepBoundObjects();
  PymemrunWatchSysSetprofile();
  for (PyThreadState* t = PyInterpreterState_ThreadHead(MainInterpreter());
       t != nullptr; t = PyThreadState_Next(t)) {
    const Py_tracefunc there = PymemrunGetSlot(t);
    if (there == nullptr) {
      Arm(t);
    } else if (there != hook && there != SlotHooks::Watcher) {
      // The slot has the script's profiler. The hook comes back when that ends.
      gaps_.Begin(Hot(), t);
    }
  }
}

void ProfileSlot::DisarmAll() {
  const Py_tracefunc hook = hook_;
  hook_ = nullptr;
  if (hook == nullptr) return;
  stacks_.EventsMissed();
  gaps_.Flush(Hot());
  for (PyThreadState* t = PyInterpreterState_ThreadHead(MainInterpreter());
       t != nullptr; t = PyThreadState_Next(t)) {
    if (PymemrunGetSlot(t) == hook) PymemrunSetSlot(t, nullptr);
  }
}

bool ProfileSlot::Watch(const SlotWatcher& watcher) {
  Use();
  PyThreadState* const tstate = PyThreadState_Get();
  const Py_tracefunc there = PymemrunGetSlot(tstate);
  if (there != nullptr && there != hook_ && there != SlotHooks::Watcher) {
    return false;
  }
  PymemrunKeepBoundObjects();
  watcher_ = watcher;
  PymemrunSetSlot(tstate, SlotHooks::Watcher);
  return true;
}

void ProfileSlot::Unwatch() { Arm(PyThreadState_Get()); }

void ProfileSlot::Leave() {
  if (g_slot != nullptr) g_slot->stacks_.EventsMissed();
  PymemrunSetSlot(PyThreadState_Get(), nullptr);
}

// Every thread passes here before it runs Python code. It has the GIL, but is
// not the current thread yet.
void ProfileSlot::OnGilTaken() {
  if (g_slot == nullptr) return;
  PyThreadState* tstate = PymemrunGilLastHolder();
  if (g_slot->gaps_.any() && g_slot->WantsHook(tstate)) {
    g_slot->gaps_.OnGilTaken(Hot(), tstate);
  }
  if (tstate == nullptr || !g_slot->MayHook(tstate)) return;
  const bool is_named = g_slot->only_names_ && t_thread_id != 0;
  if (is_named && PymemrunGetSlot(tstate) == SlotHooks::Name) {
    SlotHooks::NoCallCame(tstate);
  }
  if (PymemrunGetSlot(tstate) != nullptr) return;
  // A thread that has a name may have been renamed.
  if (is_named && !(g_slot->renames_ && SlotHooks::IsNameDue())) return;
  t_own = {};  // of a thread state that this thread had before
  g_slot->Arm(tstate);
}

// Someone has set the slot: takes it back, or steps aside for a profiler.
void ProfileSlot::Changed(PyThreadState* tstate, Py_tracefunc func) {
  ScriptsProfiler& own = t_own;
  // Some C code restores the function that it found.
  if (func == SlotHooks::OwnProfiler && own.func != nullptr) return;
  if (PyThreadState_GetInterpreter(tstate) != MainInterpreter()) return;
  if (g_slot == nullptr || !g_slot->WantsHook(tstate)) {
    own = {};
    return;
  }
  HotState& hot = Hot();
  if (func == nullptr || func == g_slot->hook_) {
    own = {};
    g_slot->gaps_.End(hot, tstate);
    g_slot->Arm(tstate);
    return;
  }
  if (own.func == nullptr) own.calls.Forget();
  own.func = func;
  g_slot->stacks_.EventsMissed();
  PymemrunSetSlot(tstate, SlotHooks::OwnProfiler);
  g_slot->gaps_.Begin(hot, tstate);
}

}  // namespace pymemrun
#endif  // PYMEMRUN_PROFILE_SLOTS
