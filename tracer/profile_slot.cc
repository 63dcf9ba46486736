#include "tracer/profile_slot.h"

#include "tracer/current_stack.h"
#include "tracer/profile_event.h"
#include "tracer/profiler_gaps.h"
#include "tracer/slot_watch.h"
#include "tracer/thread_registry.h"
#include "tracer/told_calls.h"

namespace pymemrun {
namespace {

Py_tracefunc g_hook = nullptr;  // null: not armed
bool g_only_names = false;      // it is NameHook
ProfileSlot::Watcher g_watcher = nullptr;

void Arm(PyThreadState* tstate) {
  // The thread's next event may be the return of a call that was not seen.
  Hot().last_function = nullptr;
  CurrentStack::EventsMissed();
  PymemrunSetSlot(tstate, g_hook);
}

// Whether the slot is ours to fill: tracing is on, and the thread belongs to
// the main interpreter.
bool WantsHook(PyThreadState* tstate) {
  if (g_only_names && t_thread_id != 0) return false;
  return g_hook != nullptr && Hot().page != nullptr && tstate != nullptr &&
         PyThreadState_GetInterpreter(tstate) == PyInterpreterState_Main();
}

// The script's profiler that holds this thread's slot; none if func is null.
struct OwnProfiler {
  Py_tracefunc func;
  ToldCalls calls;
};
constinit thread_local OwnProfiler t_own = {};

// Stands in the slot for the script's profiler.
int OwnProfilerHook(PyObject* object, PyFrameObject* f, int what,
                    PyObject* arg) {
  OwnProfiler& own = t_own;
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

// Stands in the slot for g_watcher.
int WatcherHook(PyObject* object, PyFrameObject* f, int what, PyObject* arg) {
  const auto event = static_cast<EventWhat>(WhatOf(what));
  ClearSpare(PymemrunFrameOf(f));
  if (!g_watcher(PymemrunFrameOf(f), event)) return 0;
  return g_hook(object, f, what, arg);
}

int NameHook(PyObject*, PyFrameObject* f, int, PyObject*) {
  ClearSpare(PymemrunFrameOf(f));
  HotState& hot = Hot();
  if (hot.page != nullptr && t_thread_id == 0) {
    ThreadRegistry::Define(hot, PymemrunFrameOf(f));
  }
  ProfileSlot::Leave();
  return 0;
}

}  // namespace

void ProfileSlot::NameThreads() {
  ThreadRegistry::Define(Hot(), nullptr);
  g_hook = NameHook;
  g_only_names = true;
}

void ProfileSlot::ArmAll(Py_tracefunc hook) {
  g_hook = hook;
  g_only_names = false;
  CurrentStack::HeardBy(hook);
  PymemrunKeepBoundObjects();
  SlotWatch::Begin();
  for (PyThreadState* t =
           PyInterpreterState_ThreadHead(PyInterpreterState_Main());
       t != nullptr; t = PyThreadState_Next(t)) {
    const Py_tracefunc there = PymemrunGetSlot(t);
    if (there == nullptr) {
      Arm(t);
    } else if (there != hook && there != WatcherHook) {
      // The script's profiler; the slot becomes ours when that ends.
      ProfilerGaps::Begin(Hot(), t);
    }
  }
}

void ProfileSlot::DisarmAll() {
  const Py_tracefunc hook = g_hook;
  g_hook = nullptr;
  if (hook == nullptr) return;
  CurrentStack::EventsMissed();
  ProfilerGaps::Flush(Hot());
  for (PyThreadState* t =
           PyInterpreterState_ThreadHead(PyInterpreterState_Main());
       t != nullptr; t = PyThreadState_Next(t)) {
    if (PymemrunGetSlot(t) == hook) PymemrunSetSlot(t, nullptr);
  }
}

void ProfileSlot::Watch(Watcher watcher) {
  PymemrunKeepBoundObjects();
  g_watcher = watcher;
  PymemrunSetSlot(PyThreadState_Get(), WatcherHook);
}

void ProfileSlot::Unwatch() { Arm(PyThreadState_Get()); }

void ProfileSlot::Leave() {
  CurrentStack::EventsMissed();
  PymemrunSetSlot(PyThreadState_Get(), nullptr);
}

bool ProfileSlot::armed() { return g_hook != nullptr && !g_only_names; }

void ProfileSlot::OnGilTaken() {
  PyThreadState* tstate = PymemrunGilLastHolder();
  if (ProfilerGaps::any() && WantsHook(tstate)) {
    ProfilerGaps::OnGilTaken(Hot(), tstate);
  }
  if (tstate == nullptr || PymemrunGetSlot(tstate) != nullptr ||
      !WantsHook(tstate)) {
    return;
  }
  t_own = {};  // of a thread state that this thread had before
  Arm(tstate);
}

void ProfileSlot::Changed(PyThreadState* tstate, Py_tracefunc func) {
  OwnProfiler& own = t_own;
  // Some C code puts back what it found.
  if (func == OwnProfilerHook && own.func != nullptr) return;
  if (PyThreadState_GetInterpreter(tstate) != PyInterpreterState_Main()) return;
  if (!WantsHook(tstate)) {
    own = {};
    return;
  }
  HotState& hot = Hot();
  if (func == nullptr || func == g_hook) {
    own = {};
    ProfilerGaps::End(hot, tstate);
    Arm(tstate);
    return;
  }
  if (own.func == nullptr) own.calls.Forget();
  own.func = func;
  CurrentStack::EventsMissed();
  PymemrunSetSlot(tstate, OwnProfilerHook);
  ProfilerGaps::Begin(hot, tstate);
}

}  // namespace pymemrun
