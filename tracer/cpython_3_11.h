// CPython 3.11: frames live in the interpreter's own stack; a profile callback
// gets a frame object made for the purpose, which points at one.
#ifndef PYMEMRUN_TRACER_CPYTHON_3_11_H_
#define PYMEMRUN_TRACER_CPYTHON_3_11_H_

#include <Python.h>
#include <stdint.h>

// Offsets into PyFrameObject and _PyInterpreterFrame, asserted in
// cpython_compat.c.
#define PYMEMRUN_FRAMEOBJ_FRAME 24
#define PYMEMRUN_FRAME_GLOBALS 8
#define PYMEMRUN_FRAME_CODE 32
#define PYMEMRUN_FRAME_PREVIOUS 48
#define PYMEMRUN_FRAME_PREV_INSTR 56
#define PYMEMRUN_FRAME_LOCALS 72

#define PYMEMRUN_LOAD(type, base, offset) \
  (*(type const*)((const char*)(base) + (offset)))

// A frame of the interpreter, opaque.
typedef struct PymemrunFrame PymemrunFrame;

static inline const PymemrunFrame* PymemrunFrameOf(PyFrameObject* f) {
  return PYMEMRUN_LOAD(const PymemrunFrame*, f, PYMEMRUN_FRAMEOBJ_FRAME);
}
static inline PyCodeObject* PymemrunFrameCode(const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(PyCodeObject*, frame, PYMEMRUN_FRAME_CODE);
}
// Offset of the frame's last instruction in code units; -1 before the first.
static inline uint32_t PymemrunFramePosition(const PymemrunFrame* frame) {
  const char* instruction =
      PYMEMRUN_LOAD(const char*, frame, PYMEMRUN_FRAME_PREV_INSTR);
  return (
      uint32_t)((instruction - PymemrunFrameCode(frame)->co_code_adaptive) >>
                1);
}
static inline const PymemrunFrame* PymemrunFrameBack(
    const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(const PymemrunFrame*, frame, PYMEMRUN_FRAME_PREVIOUS);
}
static inline PyObject* PymemrunFrameGlobals(const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(PyObject*, frame, PYMEMRUN_FRAME_GLOBALS);
}
// The frame's first local variable (an argument), or NULL. Borrowed.
static inline PyObject* PymemrunFrameFirstLocal(const PymemrunFrame* frame) {
  return PymemrunFrameCode(frame)->co_nlocalsplus > 0
             ? PYMEMRUN_LOAD(PyObject*, frame, PYMEMRUN_FRAME_LOCALS)
             : NULL;
}

#endif  // PYMEMRUN_TRACER_CPYTHON_3_11_H_
