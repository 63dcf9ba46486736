// The interpreter as a whole: where it lies, how it begins and ends. GIL.
#ifndef PYMEMRUN_TRACER_CPYTHON_LIFETIME_H_
#define PYMEMRUN_TRACER_CPYTHON_LIFETIME_H_

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where the code of the interpreter lies: in the executable, or in libpython.
void PymemrunFindInterpreter(const void** start, const void** end);

// The functions that map what its allocators divide, and unmap it. Left alone
// where there are others, too.
void PymemrunFindArenaFunctions(const void** map, const void** unmap);

// Whether Py_RunMain, once it has finalised the interpreter, will send SIGINT
// to the process: a KeyboardInterrupt reached the top.
int PymemrunInterruptIsUnhandled(void);
int PymemrunIsFinalizing(void);

// From here on `begins` is called, with the GIL, when the main interpreter has
// run what the program gave to `atexit`, and begins to finalise. Returns 0
// where that is not heard.
int PymemrunWatchFinalize(void (*begins)(void));
// The second half of it, once the interpreter runs.
void PymemrunPlaceFinalizeWatch(void);

// Removes the audit hook `func` that PySys_AddAuditHook installed. May be
// called from inside it.
void PymemrunUnlinkAuditHook(Py_AuditHookFunction func);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_LIFETIME_H_
