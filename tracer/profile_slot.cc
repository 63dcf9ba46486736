#include "tracer/profile_slot.h"

#include "tracer/clock.h"
#include "tracer/event_ring.h"
#include "tracer/thread_registry.h"

namespace pymemrun {
namespace {

// A thread whose slot the script's own profiler holds.
struct Gap {
  PyThreadState* tstate;  // null: free
  uint64_t from_number;
  uint64_t from_stamp;
  uint32_t thread;
};
constexpr int kMaxGaps = 1024;

Py_tracefunc g_hook = nullptr;  // null: not armed
Gap g_gaps[kMaxGaps];
int g_gap_count = 0;  // entries in use, anywhere in the array

Gap* FindGap(PyThreadState* tstate) {
  for (Gap& gap : g_gaps) {
    if (gap.tstate == tstate) return &gap;
  }
  return nullptr;
}

void BeginGap(HotState& hot, PyThreadState* tstate) {
  if (g_gap_count > 0 && FindGap(tstate) != nullptr) return;
  Gap* gap = FindGap(nullptr);
  if (gap == nullptr) return;  // a thousand profilers at once: the rest unsaid
  if (t_thread_id == 0) ThreadRegistry::Define(hot, nullptr);
  *gap = {tstate, hot.next_number, TimeStamp(hot.time_is_tsc), t_thread_id};
  ++g_gap_count;
}

void SendGap(HotState& hot, Gap* gap) {
  const GapPayload payload = {gap->from_number, hot.next_number,
                              gap->from_stamp,  TimeStamp(hot.time_is_tsc),
                              gap->thread,      0};
  const Piece piece = {&payload, sizeof(payload)};
  PutPayload(hot, ControlKind::kProfilerGap, 0, 0, &piece, 1);
  *gap = Gap{};
  --g_gap_count;
}

void EndGap(HotState& hot, PyThreadState* tstate) {
  if (g_gap_count == 0) return;
  Gap* gap = FindGap(tstate);
  if (gap != nullptr) SendGap(hot, gap);
}

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
    EndGap(hot, tstate);
    PymemrunSetSlot(tstate, g_hook);
    return;
  }
  if (own.func == nullptr) own.open_calls = 0;
  own.func = func;
  PymemrunSetSlot(tstate, OwnProfilerHook);
  BeginGap(hot, tstate);
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
    // A slot that the script's profiler holds becomes ours when that ends.
    if (PymemrunGetSlot(t) == nullptr) PymemrunSetSlot(t, hook);
  }
}

void ProfileSlot::DisarmAll() {
  const Py_tracefunc hook = g_hook;
  g_hook = nullptr;
  if (hook == nullptr) return;
  FlushGaps(Hot());
  for (PyThreadState* t =
           PyInterpreterState_ThreadHead(PyInterpreterState_Main());
       t != nullptr; t = PyThreadState_Next(t)) {
    if (PymemrunGetSlot(t) == hook) PymemrunSetSlot(t, nullptr);
  }
}

void ProfileSlot::SetOwn(Py_tracefunc hook) {
  if (hook != nullptr) EnableSlots(hook);
  PymemrunSetSlot(PyThreadState_Get(), hook);
}

bool ProfileSlot::armed() { return g_hook != nullptr; }

void ProfileSlot::OnGilTaken() {
  PyThreadState* tstate = PymemrunGilLastHolder();
  if (tstate == nullptr || PymemrunGetSlot(tstate) != nullptr ||
      !WantsHook(tstate)) {
    return;
  }
  PymemrunSetSlot(tstate, g_hook);
}

void ProfileSlot::ForgetInChild() {
  g_hook = nullptr;
  g_gap_count = 0;
  for (Gap& gap : g_gaps) gap = Gap{};
}

void ProfileSlot::FlushGaps(HotState& hot) {
  for (Gap& gap : g_gaps) {
    if (gap.tstate != nullptr) SendGap(hot, &gap);
  }
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
