// In the place of all other C files here, for an interpreter of a version that
// is not known (v_any.h): there is nothing to see.
#include "tracer/cpython/compat.h"

#ifdef PYMEMRUN_ANY_PYTHON
#include <string.h>

#include "tracer/cpython/gc/gc_runs.h"
#include "tracer/cpython/gil/gil_place.h"
#include "tracer/cpython/lifetime.h"
#include "tracer/cpython/replaced_functions.h"

void PymemrunCodeFactsOf(PyObject* code, PymemrunCodeFacts* facts) {
  memset(facts, 0, sizeof *facts);
}
size_t PymemrunLineArrayBytes(PyCodeObject* code) { return 0; }
size_t PymemrunFrameObjectBytes(const PymemrunFrame* frame) { return 0; }
size_t PymemrunBoundObjectBytes(const PymemrunFrame* frame) { return 0; }
uint32_t PymemrunStartPosition(const PyCodeObject* code) { return 0x7fffffff; }
int PymemrunIsBoundWhenCalled(const PyCFunctionObject* function) { return 0; }
int PymemrunIsCollecting(const PyThreadState* tstate) { return 0; }
int PymemrunIsOnFrameStack(const PyThreadState* tstate,
                           const PymemrunFrame* frame) {
  return 0;
}
int PymemrunEnteredFromC(const PymemrunFrame* frame) { return 0; }
const pthread_cond_t* PymemrunGilSwitchCond(void) { return NULL; }
PymemrunGilPlace PymemrunMainGil(void) {
  const PymemrunGilPlace none = {NULL, NULL, 0, 0};
  return none;
}
PymemrunGilPlace PymemrunNewGil(const pthread_cond_t* taken) {
  return PymemrunMainGil();
}
int PymemrunHearsGcRuns(void) { return 0; }
void PymemrunPrepareGcRuns(void) {}
int PymemrunWatchGcRuns(const PymemrunGcHeard* heard) { return 0; }
void PymemrunForgetGcRuns(void) {}
const PymemrunFrame* PymemrunTopFrame(PyThreadState* tstate) { return NULL; }
int PymemrunIsForProfiling(PyThreadState* tstate, size_t bytes) { return 0; }
int PymemrunIsLineArray(PyThreadState* tstate, size_t bytes) { return 0; }
size_t PymemrunSmallRequestBytes(void) { return 0; }

size_t PymemrunCopyUtf8(PyObject* text, char* buffer, size_t size) {
  if (text == NULL || !PyUnicode_Check(text)) return 0;
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
  if (bytes == NULL) {
    PyErr_Clear();
    return 0;
  }
  const size_t length = (size_t)PyBytes_Size(bytes);
  memcpy(buffer, PyBytes_AsString(bytes), length < size ? length : size);
  Py_DECREF(bytes);
  return length;
}
size_t PymemrunUtf8Piece(PyObject* text, Py_ssize_t* at, char* buffer,
                         size_t size) {
  return 0;
}

int PymemrunInterruptIsUnhandled(void) { return 0; }
int PymemrunIsFinalizing(void) { return 0; }
int PymemrunWatchFinalize(void (*begins)(void)) { return 0; }
void PymemrunPlaceFinalizeWatch(void) {}
void PymemrunUnlinkAuditHook(Py_AuditHookFunction func) {}
void PymemrunReplaceFunctions(void) {}
#endif  // PYMEMRUN_ANY_PYTHON
