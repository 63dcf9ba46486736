// A CPython of whatever version: nothing of it is known but its stable ABI. No
// frame is ever seen, and what reads objects goes through functions.
#ifndef PYMEMRUN_TRACER_CPYTHON_V_ANY_H_
#define PYMEMRUN_TRACER_CPYTHON_V_ANY_H_

#include <Python.h>
#include <stdint.h>

typedef struct PymemrunFrame PymemrunFrame;
#define PYMEMRUN_FRAME_HEAD_BYTES 1

static inline const PymemrunFrame* PymemrunFrameOf(PyFrameObject* f) {
  return NULL;
}
static inline PyCodeObject* PymemrunFrameCode(const PymemrunFrame* frame) {
  return NULL;
}
static inline uint32_t PymemrunFramePosition(const PymemrunFrame* frame) {
  return 0;
}
static inline const void* PymemrunFrameInstruction(const PymemrunFrame* frame) {
  return NULL;
}
static inline const PymemrunFrame* PymemrunFramePrevious(
    const PymemrunFrame* frame) {
  return NULL;
}
static inline int PymemrunFrameIsC(const PymemrunFrame* frame) { return 0; }
static inline int PymemrunFrameRuns(const PymemrunFrame* frame) { return 0; }
static inline const PymemrunFrame* PymemrunFrameThatRuns(
    const PymemrunFrame* frame) {
  return NULL;
}
static inline const PymemrunFrame* PymemrunFrameBack(
    const PymemrunFrame* frame) {
  return NULL;
}
static inline const PymemrunFrame* PymemrunInnermostFrame(
    const PyThreadState* tstate) {
  return NULL;
}
static inline PyObject* PymemrunFrameGlobals(const PymemrunFrame* frame) {
  return NULL;
}
static inline PyObject* PymemrunFrameFirstLocal(const PymemrunFrame* frame) {
  return NULL;
}

static inline int PymemrunTypeHas(PyObject* object, unsigned long flag) {
  return (PyType_GetFlags(Py_TYPE(object)) & flag) != 0;
}
#undef PyLong_Check
#undef PyUnicode_Check
#undef PyDict_Check
#undef Py_INCREF
#undef Py_DECREF
#undef Py_XDECREF
#undef Py_RETURN_NONE
#define PyLong_Check(object) PymemrunTypeHas(object, Py_TPFLAGS_LONG_SUBCLASS)
#define PyUnicode_Check(object) \
  PymemrunTypeHas(object, Py_TPFLAGS_UNICODE_SUBCLASS)
#define PyDict_Check(object) PymemrunTypeHas(object, Py_TPFLAGS_DICT_SUBCLASS)
#define Py_INCREF(object) Py_IncRef((PyObject*)(object))
#define Py_DECREF(object) Py_DecRef((PyObject*)(object))
#define Py_XDECREF(object) Py_DecRef((PyObject*)(object))
#define Py_RETURN_NONE return Py_BuildValue("")

#endif  // PYMEMRUN_TRACER_CPYTHON_V_ANY_H_
