// How the extension module greenlet switches: by methods and C functions whose
// addresses are in its own tables. These addresses are replaced when the module
// is loaded, by _imp, whose functions are also called through a table.
//
// All functions need the GIL, in the main interpreter. Nothing here runs Python
// code of the program.
#ifndef PYMEMRUN_TRACER_CPYTHON_TASKS_GREENLET_PLACE_H_
#define PYMEMRUN_TRACER_CPYTHON_TASKS_GREENLET_PLACE_H_

#include <Python.h>

#include "tracer/cpython/tasks/task_place.h"

#ifdef __cplusplus
extern "C" {
#endif

// Both greenlets are alive during the call.
typedef struct {
  // `from` runs, and is about to switch to `to`. The thread's stack is its own.
  void (*leaves)(PyObject* from, PyObject* to);
  // `from` runs again. `to_ended`: the greenlet that it switched to has ended.
  void (*returns)(PyObject* from, PyObject* to, int to_ended);
} PymemrunGreenletHooks;

// From here on the hooks are called, once the module is loaded, for ever. Once.
void PymemrunWatchGreenlets(const PymemrunGreenletHooks* hooks);

// What a greenlet that has not begun will run, if that is a Python function;
// NULL: something else. Borrowed.
PyCodeObject* PymemrunGreenletCode(PyObject* greenlet);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_TASKS_GREENLET_PLACE_H_
