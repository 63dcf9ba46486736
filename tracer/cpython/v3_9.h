// CPython 3.9 and 3.10: a frame is the frame object.
#ifndef PYMEMRUN_TRACER_CPYTHON_V3_9_H_
#define PYMEMRUN_TRACER_CPYTHON_V3_9_H_

#include <Python.h>
#include <frameobject.h>
#include <stdint.h>

typedef PyFrameObject PymemrunFrame;

static inline const PymemrunFrame* PymemrunFrameOf(PyFrameObject* f) {
  return f;
}
// What is read of a frame.
#define PYMEMRUN_FRAME_HEAD_BYTES sizeof(PyFrameObject)

static inline PyCodeObject* PymemrunFrameCode(const PymemrunFrame* frame) {
  return frame->f_code;
}
static inline uint32_t PymemrunFramePosition(const PymemrunFrame* frame) {
#if PY_VERSION_HEX >= 0x030A0000
  return (uint32_t)frame->f_lasti;  // in code units
#else
  return (uint32_t)(frame->f_lasti >> 1);  // in bytes; -1 before the first
#endif
}
// Stands for the last instruction: it differs for each.
static inline const void* PymemrunFrameInstruction(const PymemrunFrame* frame) {
  return PyBytes_AS_STRING(frame->f_code->co_code) + frame->f_lasti;
}
static inline const PymemrunFrame* PymemrunFramePrevious(
    const PymemrunFrame* frame) {
  return frame->f_back;
}
static inline int PymemrunFrameIsC(const PymemrunFrame* frame) { return 0; }
// Whether it runs Python code.
static inline int PymemrunFrameRuns(const PymemrunFrame* frame) { return 1; }
static inline const PymemrunFrame* PymemrunFrameThatRuns(
    const PymemrunFrame* frame) {
  return frame;
}
static inline const PymemrunFrame* PymemrunFrameBack(
    const PymemrunFrame* frame) {
  return frame->f_back;
}
static inline const PymemrunFrame* PymemrunInnermostFrame(
    const PyThreadState* tstate) {
  return tstate->frame;
}
static inline PyObject* PymemrunFrameGlobals(const PymemrunFrame* frame) {
  return frame->f_globals;
}
static inline PyObject* PymemrunFrameFirstLocal(const PymemrunFrame* frame) {
  return frame->f_code->co_nlocals > 0 ? frame->f_localsplus[0] : NULL;
}

#endif  // PYMEMRUN_TRACER_CPYTHON_V3_9_H_
