#include "tracer/profile_slot.h"

#include "tracer/profiler_gaps.h"

namespace pymemrun {
namespace {

Py_tracefunc g_hook = nullptr;  // null: not armed
// What stands in a slot before and after the user's code, where that is not it.
Py_tracefunc g_own_hook = nullptr;

// Whether the slot is ours to fill: tracing is on, and the thread belongs to
// the main interpreter.
bool WantsHook(PyThreadState* tstate) {
  return g_hook != nullptr && Hot().page != nullptr && tstate != nullptr &&
         PyThreadState_GetInterpreter(tstate) == PyInterpreterState_Main();
}

// The script's profiler that holds this thread's slot; none if func is null.
struct OwnProfiler {
  Py_tracefunc func;
  uint64_t open_calls;  // C calls whose begin it was told
};
constinit thread_local OwnProfiler t_own = {};

// Stands in the slot for the script's profiler. CPython tells the end of a C
// call only when a profiler was there at its begin; ours was, so that the end
// of sys.setprofile itself would come to a profiler that does not expect it.
int OwnProfilerHook(PyObject* object, PyFrameObject* f, int what,
                    PyObject* arg) {
  OwnProfiler& own = t_own;
  if (what == PyTrace_C_CALL) {
    ++own.open_calls;
  } else if (what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION) {
    if (own.open_calls == 0) return 0;
    --own.open_calls;
  }
  return own.func(object, f, what, arg);
}

// CPython's function that fills the slot has run for `tstate`, which is the
// calling thread's.
void SlotChanged(PyThreadState* tstate, Py_tracefunc func) {
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
    PymemrunSetSlot(tstate, g_hook);
    return;
  }
  if (own.func == nullptr) own.open_calls = 0;
  own.func = func;
  PymemrunSetSlot(tstate, OwnProfilerHook);
  ProfilerGaps::Begin(hot, tstate);
}

// Makes the interpreter deliver events at all, once.
void EnableSlots(Py_tracefunc hook) {
  static bool enabled = false;
  if (enabled) return;
  enabled = true;
  if (!PymemrunEnableSlots(hook)) PyErr_Clear();  // an audit hook's veto
}

#ifndef PYMEMRUN_STATIC_PYTHON
// A shared libpython may call its own _PyEval_SetProfile without looking for
// ours: then sys.setprofile is the place to hear of it.
PyCFunction g_sys_setprofile = nullptr;

PyObject* SysSetprofile(PyObject* self, PyObject* argument) {
  PyObject* result = g_sys_setprofile(self, argument);
  if (result != nullptr) {
    PyThreadState* tstate = PyThreadState_Get();
    SlotChanged(tstate, PymemrunGetSlot(tstate));
  }
  return result;
}

void WatchSysSetprofile() {
  PyObject* function = PySys_GetObject("setprofile");  // borrowed
  if (g_sys_setprofile != nullptr || function == nullptr ||
      !PyCFunction_CheckExact(function)) {
    return;
  }
  PyMethodDef* method = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  g_sys_setprofile = method->ml_meth;
  method->ml_meth = SysSetprofile;
}
#else
void WatchSysSetprofile() {}  // every caller comes through _PyEval_SetProfile
#endif

}  // namespace

void ProfileSlot::ArmAll(Py_tracefunc hook) {
  g_hook = hook;
  EnableSlots(hook);
  WatchSysSetprofile();
  for (PyThreadState* t =
           PyInterpreterState_ThreadHead(PyInterpreterState_Main());
       t != nullptr; t = PyThreadState_Next(t)) {
    const Py_tracefunc there = PymemrunGetSlot(t);
    if (there == nullptr) {
      PymemrunSetSlot(t, hook);
    } else if (there != hook && there != g_own_hook) {
      // The script's profiler; the slot becomes ours when that ends.
      ProfilerGaps::Begin(Hot(), t);
    }
  }
}

void ProfileSlot::DisarmAll() {
  const Py_tracefunc hook = g_hook;
  g_hook = nullptr;
  if (hook == nullptr) return;
  ProfilerGaps::Flush(Hot());
  for (PyThreadState* t =
           PyInterpreterState_ThreadHead(PyInterpreterState_Main());
       t != nullptr; t = PyThreadState_Next(t)) {
    if (PymemrunGetSlot(t) == hook) PymemrunSetSlot(t, nullptr);
  }
}

void ProfileSlot::SetOwn(Py_tracefunc hook) {
  if (hook != nullptr) EnableSlots(hook);
  g_own_hook = hook;
  PymemrunSetSlot(PyThreadState_Get(), hook);
}

bool ProfileSlot::armed() { return g_hook != nullptr; }

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
  PymemrunSetSlot(tstate, g_hook);
}

void ProfileSlot::ForgetInChild() {
  g_hook = nullptr;
  ProfilerGaps::ForgetInChild();
}

}  // namespace pymemrun

// In place of CPython's own, which a static build renames in its archive
// (tracer/CMakeLists.txt): sys.setprofile, cProfile and extension modules all
// come through here.
extern "C" {

int _PyEval_SetProfile(PyThreadState* tstate, Py_tracefunc func,
                       PyObject* arg) {
  const int result = PymemrunRealEvalSetProfile(tstate, func, arg);
  if (result == 0) pymemrun::SlotChanged(tstate, func);
  return result;
}

void PyEval_SetProfile(Py_tracefunc func, PyObject* arg) {
  PyThreadState* tstate = PyThreadState_Get();
  if (_PyEval_SetProfile(tstate, func, arg) < 0) {
    // The audit hook's veto is not an error that the caller can be told.
    PyErr_WriteUnraisable(nullptr);
  }
}

}  // extern "C"
