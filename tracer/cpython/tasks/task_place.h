// Tasks of asyncio in CPython. A step of a task sends a value into its
// coroutine, or throws an exception into it, by functions whose addresses are
// in the type of coroutines. These addresses are replaced.
//
// All functions need the GIL, in the main interpreter. Nothing here runs Python
// code, allocates, or changes a reference count.
#ifndef PYMEMRUN_TRACER_CPYTHON_TASKS_TASK_PLACE_H_
#define PYMEMRUN_TRACER_CPYTHON_TASKS_TASK_PLACE_H_

#include <Python.h>

#include "tracer/cpython/version.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a step ended: the coroutine goes on after it, or returned, or raised
// asyncio.CancelledError, or another exception.
typedef enum {
  kPymemrunStepWaits,
  kPymemrunStepReturns,
  kPymemrunStepCancelled,
  kPymemrunStepRaises
} PymemrunStepEnd;

// What is called before and after a coroutine runs. `begin` returns whether
// `end` is to be called.
typedef struct {
  int (*begin)(PyObject* coroutine, void* step);
  void (*end)(PyObject* coroutine, PymemrunStepEnd end, void* step);
} PymemrunStepHooks;

// Bytes that the two may use between `begin` and `end`, where `step` points.
#define PYMEMRUN_STEP_BYTES 96

// From here on the hooks are called, in all threads, for ever. Once. Returns 0
// where this version has no way to.
int PymemrunWatchSteps(const PymemrunStepHooks* hooks);

// The task that is about to run this coroutine as its own, or NULL: something
// else runs it. Borrowed.
PyObject* PymemrunTaskOf(PyObject* coroutine);
// Its name: a str, or an int that stands for "Task-N". NULL: not known.
// Borrowed.
PyObject* PymemrunTaskName(PyObject* task);

// The code object of a coroutine.
PyCodeObject* PymemrunCoroutineCode(PyObject* coroutine);
// The frames of a coroutine that waits, the outermost first, down to what is
// not a coroutine. Returns how many, at most `most`.
size_t PymemrunAwaitedFrames(PyObject* coroutine, const PymemrunFrame** frames,
                             size_t most);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_TASKS_TASK_PLACE_H_
