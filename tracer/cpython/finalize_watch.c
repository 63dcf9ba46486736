// Hears when the interpreter begins to finalise. Where it is part of the
// executable, its function for that is renamed (versions.cmake).
#define Py_BUILD_CORE 1
#include <string.h>

#include "tracer/cpython/lifetime.h"

#if defined(PYMEMRUN_STATIC_PYTHON) && PY_VERSION_HEX >= 0x030B0000
static void (*g_begins)(void);

int PymemrunWatchFinalize(void (*begins)(void)) {
  g_begins = begins;
  return 1;
}

// The original, renamed.
void pymemrun_real__PyAtExit_Call(PyInterpreterState* interp);

// The last of the program's code: what the interpreter calls when it has waited
// for threads, before it takes itself down.
void _PyAtExit_Call(PyInterpreterState* interp) {
  pymemrun_real__PyAtExit_Call(interp);
  if (g_begins != NULL && interp == PyInterpreterState_Main()) g_begins();
}

void PymemrunPlaceFinalizeWatch(void) {}
#elif PY_VERSION_HEX >= 0x030A0000
// Elsewhere it is the first that was given to `atexit`, which is called last.
// It is put there without the module, which the program may never import.
#include "internal/pycore_interp.h"

#if PY_VERSION_HEX >= 0x030E0000
#elif PY_VERSION_HEX < 0x030C0000
typedef atexit_callback AtExitEntry;
#else
typedef atexit_py_callback AtExitEntry;
#endif

static void (*g_begins)(void);

int PymemrunWatchFinalize(void (*begins)(void)) {
  g_begins = begins;
  return 1;
}

static PyObject* AtExit(PyObject* self, PyObject* arguments) {
  (void)self, (void)arguments;
  // atexit._run_exitfuncs() is called by Python code.
  if (PyEval_GetFrame() == NULL) g_begins();
  Py_RETURN_NONE;
}

static PyMethodDef g_method = {"pymemrun", AtExit, METH_NOARGS, NULL};

#if PY_VERSION_HEX >= 0x030E0000
// A list, called from its beginning.
void PymemrunPlaceFinalizeWatch(void) {
  PyObject* callbacks = PyInterpreterState_Main()->atexit.callbacks;
  PyObject* function = PyCFunction_New(&g_method, NULL);
  PyObject* entry =
      function == NULL ? NULL : Py_BuildValue("(N()O)", function, Py_None);
  if (entry == NULL || PyList_Append(callbacks, entry) != 0) PyErr_Clear();
  Py_XDECREF(entry);
}
#else
void PymemrunPlaceFinalizeWatch(void) {
  struct atexit_state* state = &PyInterpreterState_Main()->atexit;
  AtExitEntry* entry = (AtExitEntry*)PyMem_Malloc(sizeof(AtExitEntry));
  if (entry == NULL) return;
  entry->func = PyCFunction_New(&g_method, NULL);
  entry->args = PyTuple_New(0);
  entry->kwargs = NULL;
  if (entry->func == NULL || entry->args == NULL || state->callbacks == NULL ||
      state->ncallbacks >= state->callback_len) {
    Py_XDECREF(entry->func);
    Py_XDECREF(entry->args);
    PyMem_Free(entry);
    PyErr_Clear();
    return;
  }
  // Those of the start-up are called before it: the program's end is theirs.
  memmove(state->callbacks + 1, state->callbacks,
          (size_t)state->ncallbacks * sizeof state->callbacks[0]);
  state->callbacks[0] = entry;
  ++state->ncallbacks;
}
#endif
#elif defined(PYMEMRUN_PRELOADED)
// There is one function that the interpreter calls, which the module atexit
// says when it is imported.
#include "internal/pycore_interp.h"
#include "tracer/cpython/replaced_functions.h"

static void (*g_begins)(void);
static void (*g_modules)(PyObject*);  // what the module said; NULL: nothing yet

int PymemrunWatchFinalize(void (*begins)(void)) {
  g_begins = begins;
  return 1;
}

static void AtExit(PyObject* module) {
  if (g_modules != NULL) g_modules(module);
  PyErr_Clear();
  g_begins();
}

void PymemrunPlaceFinalizeWatch(void) {
  PyInterpreterState* interp = PyInterpreterState_Main();
  if (interp->pyexitfunc != AtExit) g_modules = interp->pyexitfunc;
  interp->pyexitfunc = AtExit;
}

void PymemrunPyAtExit(void (*function)(PyObject*), PyObject* module) {
  PyInterpreterState* interp = PyInterpreterState_Get();
  if (interp->pyexitfunc == AtExit) {
    g_modules = function;
  } else {
    interp->pyexitfunc = function;
  }
  interp->pyexitmodule = module;
}
#else
void PymemrunPlaceFinalizeWatch(void) {}
int PymemrunWatchFinalize(void (*begins)(void)) {
  (void)begins;
  return 0;
}
#endif
