// CPython 3.12 and 3.13: as 3.11, with the code object first in a frame, and
// frames of C calls between those of Python (their owner says so).
#ifndef PYMEMRUN_TRACER_CPYTHON_3_12_H_
#define PYMEMRUN_TRACER_CPYTHON_3_12_H_

#include <Python.h>
#include <stdint.h>

#define PYMEMRUN_FRAMEOBJ_FRAME 24
#define PYMEMRUN_FRAME_CODE 0
#define PYMEMRUN_FRAME_PREVIOUS 8
#define PYMEMRUN_FRAME_GLOBALS 24
#define PYMEMRUN_FRAME_INSTRUCTION 56
#define PYMEMRUN_FRAME_OWNER 70
#define PYMEMRUN_FRAME_LOCALS 72
#define PYMEMRUN_OWNED_BY_CSTACK 3

#define PYMEMRUN_LOAD(type, base, offset) \
  (*(type const*)((const char*)(base) + (offset)))

typedef struct PymemrunFrame PymemrunFrame;

static inline const PymemrunFrame* PymemrunFrameOf(PyFrameObject* f) {
  return PYMEMRUN_LOAD(const PymemrunFrame*, f, PYMEMRUN_FRAMEOBJ_FRAME);
}
static inline PyCodeObject* PymemrunFrameCode(const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(PyCodeObject*, frame, PYMEMRUN_FRAME_CODE);
}
static inline uint32_t PymemrunFramePosition(const PymemrunFrame* frame) {
  const char* instruction =
      PYMEMRUN_LOAD(const char*, frame, PYMEMRUN_FRAME_INSTRUCTION);
  return (
      uint32_t)((instruction - PymemrunFrameCode(frame)->co_code_adaptive) >>
                1);
}
static inline const PymemrunFrame* PymemrunFrameBack(
    const PymemrunFrame* frame) {
  do {
    frame = PYMEMRUN_LOAD(const PymemrunFrame*, frame, PYMEMRUN_FRAME_PREVIOUS);
  } while (frame != NULL && PYMEMRUN_LOAD(char, frame, PYMEMRUN_FRAME_OWNER) ==
                                PYMEMRUN_OWNED_BY_CSTACK);
  return frame;
}
static inline PyObject* PymemrunFrameGlobals(const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(PyObject*, frame, PYMEMRUN_FRAME_GLOBALS);
}
static inline PyObject* PymemrunFrameFirstLocal(const PymemrunFrame* frame) {
  return PymemrunFrameCode(frame)->co_nlocalsplus > 0
             ? PYMEMRUN_LOAD(PyObject*, frame, PYMEMRUN_FRAME_LOCALS)
             : NULL;
}

#endif  // PYMEMRUN_TRACER_CPYTHON_3_12_H_
