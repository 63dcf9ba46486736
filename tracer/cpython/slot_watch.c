#include "tracer/cpython/slot_watch.h"

#include "tracer/cpython/compat.h"

static PymemrunSlotFilled* g_filled;

void PymemrunWatchSlots(PymemrunSlotFilled* filled) { g_filled = filled; }

#if defined(PYMEMRUN_STATIC_PYTHON) || \
    (defined(PYMEMRUN_PRELOADED) && PY_VERSION_HEX < 0x030C0000)
// Every caller comes through _PyEval_SetProfile.
void PymemrunWatchSysSetprofile(void) {}
#else
static PyCFunction g_sys_setprofile;

static PyObject* SysSetprofile(PyObject* self, PyObject* argument) {
  PyObject* result = g_sys_setprofile(self, argument);
  if (result != NULL && g_filled != NULL) {
    PyThreadState* tstate = PyThreadState_Get();
    g_filled(tstate, tstate->c_profilefunc);
  }
  return result;
}

void PymemrunWatchSysSetprofile(void) {
  if (g_sys_setprofile != NULL) return;
  PyObject* function = PySys_GetObject("setprofile");  // borrowed
  if (function == NULL || !PyCFunction_CheckExact(function)) return;
  PyMethodDef* method = ((PyCFunctionObject*)function)->m_ml;
  g_sys_setprofile = method->ml_meth;
  method->ml_meth = SysSetprofile;
}
#endif

// In place of CPython's own, which a static build renames in its archive
// (versions.cmake), and a preloaded tracer replaces: sys.setprofile, cProfile
// and extension modules all come through here.

int _PyEval_SetProfile(PyThreadState* tstate, Py_tracefunc func,
                       PyObject* arg) {
  const int result = PymemrunRealEvalSetProfile(tstate, func, arg);
  if (result == 0 && g_filled != NULL) g_filled(tstate, func);
  return result;
}

void PyEval_SetProfile(Py_tracefunc func, PyObject* arg) {
  PyThreadState* tstate = PyThreadState_Get();
  if (_PyEval_SetProfile(tstate, func, arg) < 0) {
    // The audit hook's veto is not an error that the caller can be told.
    PyErr_WriteUnraisable(NULL);
  }
}
