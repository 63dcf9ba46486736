// Hears of everybody who fills a profile slot: sys.setprofile, cProfile,
// extension modules. GIL.
#ifndef PYMEMRUN_TRACER_CPYTHON_SLOT_WATCH_H_
#define PYMEMRUN_TRACER_CPYTHON_SLOT_WATCH_H_

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

// Somebody has put `func` (NULL: none) into the slot of `tstate`.
typedef void PymemrunSlotFilled(PyThreadState* tstate, Py_tracefunc func);

// From here on `filled` is told.
void PymemrunWatchSlots(PymemrunSlotFilled* filled);
// A shared libpython may call its own _PyEval_SetProfile without looking for
// ours: then sys.setprofile is heard of from here on. After Py_Initialize;
// again: no effect.
void PymemrunWatchSysSetprofile(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_SLOT_WATCH_H_
