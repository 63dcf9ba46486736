// Hears when Python's cycle collector runs, as gc.callbacks does, without being
// seen there. Main interpreter only; nothing in a free-threaded build.
#ifndef PYMEMRUN_TRACER_CPYTHON_GC_GC_RUNS_H_
#define PYMEMRUN_TRACER_CPYTHON_GC_GC_RUNS_H_

#include <Python.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a run found; all 0 where the interpreter had no memory to say it.
typedef struct {
  uint32_t generation;
  uint64_t collected;
  uint64_t uncollectable;
} PymemrunGcRun;

typedef struct {
  void (*begins)(void);
  void (*ends)(const PymemrunGcRun* run);
} PymemrunGcHeard;

// Whether runs can be heard in this build.
int PymemrunHearsGcRuns(void);
// Before Py_InitializeFromConfig, behind all PyImport_AppendInittab: the module
// gc will have the program's list, whenever it is imported.
void PymemrunPrepareGcRuns(void);
// From here on both functions are called, with the GIL, where the program's
// callbacks are: `begins` behind those, `ends` before. They may not call
// Python. Returns 0 where there was no memory for it, or no
// PymemrunPrepareGcRuns(). Leaves the collector's counts as they are.
int PymemrunWatchGcRuns(const PymemrunGcHeard* heard);
// Ends that: the interpreter has its own list again.
void PymemrunForgetGcRuns(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_GC_GC_RUNS_H_
