// Functions of an interpreter that is no part of this executable, which ours
// take the place of: what a static build does by renaming (versions.cmake).
//
// Calls within an executable or library go past the dynamic linker. So the
// function itself is made to jump to ours.
#ifndef PYMEMRUN_TRACER_CPYTHON_REPLACED_FUNCTIONS_H_
#define PYMEMRUN_TRACER_CPYTHON_REPLACED_FUNCTIONS_H_

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

// Replaces those that this version needs. Those that the system does not let us
// write to stay as they are: see docs/versions.md. REQUIRES: one thread.
void PymemrunReplaceFunctions(void);

// In the place of CPython 3.9's _Py_PyAtExit (finalize_watch.c).
void PymemrunPyAtExit(void (*function)(PyObject*), PyObject* module);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_REPLACED_FUNCTIONS_H_
