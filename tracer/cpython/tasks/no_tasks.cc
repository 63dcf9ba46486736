// Where nothing is known of tasks.
#include "tracer/cpython/tasks/greenlet_place.h"

#ifndef PYMEMRUN_TASKS
int PymemrunWatchSteps(const PymemrunStepHooks*) { return 0; }
PyObject* PymemrunTaskOf(PyObject*) { return nullptr; }
PyObject* PymemrunTaskName(PyObject*) { return nullptr; }
PyCodeObject* PymemrunCoroutineCode(PyObject*) { return nullptr; }
void PymemrunWatchGreenlets(const PymemrunGreenletHooks*) {}
PyCodeObject* PymemrunGreenletCode(PyObject*) { return nullptr; }
size_t PymemrunAwaitedFrames(PyObject*, const PymemrunFrame**, size_t) {
  return 0;
}
#endif
