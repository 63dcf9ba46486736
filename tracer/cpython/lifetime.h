// The interpreter as a whole: where it is in memory, how it starts and ends.
// All functions need the GIL.
#ifndef PYMEMRUN_TRACER_CPYTHON_LIFETIME_H_
#define PYMEMRUN_TRACER_CPYTHON_LIFETIME_H_

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

// Address range of the code of the interpreter, in the executable or in
// libpython.
void PymemrunFindInterpreter(const void** start, const void** end);

// Functions by which the object allocator maps and unmaps its arenas. Left
// unset in a free-threaded build, which has another allocator.
void PymemrunFindArenaFunctions(const void** map, const void** unmap);

// Whether Py_RunMain will send SIGINT to the process after finalisation: a
// KeyboardInterrupt was not caught.
int PymemrunInterruptIsUnhandled(void);
// Whether the interpreter is finalising.
int PymemrunIsFinalizing(void);

// Calls `begins`, with the GIL, when the main interpreter has run the `atexit`
// functions and starts to finalise. Returns 0 if this cannot be watched.
int PymemrunWatchFinalize(void (*begins)(void));
// Second step of the same, once the interpreter runs.
void PymemrunPlaceFinalizeWatch(void);

// Removes the audit hook `func` that PySys_AddAuditHook installed. May be
// called from inside the hook.
void PymemrunUnlinkAuditHook(Py_AuditHookFunction func);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_LIFETIME_H_
