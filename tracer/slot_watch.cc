#include "tracer/slot_watch.h"

#include "tracer/cpython_compat.h"
#include "tracer/profile_slot.h"

namespace pymemrun {

#ifndef PYMEMRUN_STATIC_PYTHON
namespace {

// A shared libpython may call its own _PyEval_SetProfile without looking for
// ours: then sys.setprofile is the place to hear of it.
PyCFunction g_sys_setprofile = nullptr;

PyObject* SysSetprofile(PyObject* self, PyObject* argument) {
  PyObject* result = g_sys_setprofile(self, argument);
  if (result != nullptr) {
    PyThreadState* tstate = PyThreadState_Get();
    ProfileSlot::Changed(tstate, tstate->c_profilefunc);
  }
  return result;
}

}  // namespace

void SlotWatch::Begin() {
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
void SlotWatch::Begin() {}  // every caller comes through _PyEval_SetProfile
#endif

}  // namespace pymemrun

// In place of CPython's own, which a static build renames in its archive
// (tracer/CMakeLists.txt): sys.setprofile, cProfile and extension modules all
// come through here.
extern "C" {

int _PyEval_SetProfile(PyThreadState* tstate, Py_tracefunc func,
                       PyObject* arg) {
  const int result = PymemrunRealEvalSetProfile(tstate, func, arg);
  if (result == 0) pymemrun::ProfileSlot::Changed(tstate, func);
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
