// Reads the frames of CPython 3.11 and later by the offsets that the version's
// own header (cpython_3_NN.h) has defined before including this.
#ifndef PYMEMRUN_TRACER_CPYTHON_FRAMES_H_
#define PYMEMRUN_TRACER_CPYTHON_FRAMES_H_

#include <Python.h>
#include <stdint.h>

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
      PYMEMRUN_LOAD(const char*, frame, PYMEMRUN_FRAME_INSTRUCTION);
  return (
      uint32_t)((instruction - PymemrunFrameCode(frame)->co_code_adaptive) >>
                1);
}
// Where its last instruction lies.
static inline const void* PymemrunFrameInstruction(const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(const void*, frame, PYMEMRUN_FRAME_INSTRUCTION);
}
// The Python frame that called it, or NULL.
static inline const PymemrunFrame* PymemrunFrameBack(
    const PymemrunFrame* frame) {
  do {
    frame = PYMEMRUN_LOAD(const PymemrunFrame*, frame, PYMEMRUN_FRAME_PREVIOUS);
  } while (frame != NULL && PYMEMRUN_IS_C_FRAME(frame));
  return frame;
}
// The innermost frame of the thread that runs Python code, or NULL.
static inline const PymemrunFrame* PymemrunInnermostFrame(
    const PyThreadState* tstate) {
#if PY_VERSION_HEX >= 0x030D0000
  const void* innermost = tstate->current_frame;
#else
  const void* innermost = tstate->cframe->current_frame;
#endif
  const PymemrunFrame* frame = (const PymemrunFrame*)innermost;
  return frame != NULL && PYMEMRUN_IS_C_FRAME(frame) ? PymemrunFrameBack(frame)
                                                     : frame;
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

#endif  // PYMEMRUN_TRACER_CPYTHON_FRAMES_H_
