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
// In a shared libpython sys.setprofile may bypass our _PyEval_SetProfile. After
// this call it is heard of there, too. Call it after Py_Initialize; a second
// call has no effect.
void PymemrunWatchSysSetprofile(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_SLOT_WATCH_H_
