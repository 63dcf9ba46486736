// Reads the frames of CPython 3.11 and later by the offsets that the version's
// own header (v3_NN.h) has defined before including this.
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
// An object that a frame refers to, where the reference may carry a tag.
static inline PyObject* PymemrunFrameObject(const PymemrunFrame* frame,
                                            size_t offset) {
#ifdef PYMEMRUN_FRAME_TAG
  return (PyObject*)(PYMEMRUN_LOAD(uintptr_t, frame, offset) &
                     ~(uintptr_t)PYMEMRUN_FRAME_TAG);
#else
  return PYMEMRUN_LOAD(PyObject*, frame, offset);
#endif
}
static inline PyCodeObject* PymemrunFrameCode(const PymemrunFrame* frame) {
  return (PyCodeObject*)PymemrunFrameObject(frame, PYMEMRUN_FRAME_CODE);
}
// The instructions that the frame runs.
static inline const char* PymemrunFrameBytecode(const PymemrunFrame* frame) {
  const PyCodeObject* code = PymemrunFrameCode(frame);
#ifdef PYMEMRUN_FRAME_BYTECODE_INDEX
  return code->co_tlbc
      ->entries[PYMEMRUN_LOAD(int32_t, frame, PYMEMRUN_FRAME_BYTECODE_INDEX)];
#else
  return code->co_code_adaptive;
#endif
}
// Offset of the frame's last instruction in code units; -1 before the first.
static inline uint32_t PymemrunFramePosition(const PymemrunFrame* frame) {
  const char* instruction =
      PYMEMRUN_LOAD(const char*, frame, PYMEMRUN_FRAME_INSTRUCTION);
  return (uint32_t)((instruction - PymemrunFrameBytecode(frame)) >> 1);
}
// Address of its last instruction.
static inline const void* PymemrunFrameInstruction(const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(const void*, frame, PYMEMRUN_FRAME_INSTRUCTION);
}
// The frame below it, whatever that is, or NULL.
static inline const PymemrunFrame* PymemrunFramePrevious(
    const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(const PymemrunFrame*, frame, PYMEMRUN_FRAME_PREVIOUS);
}
// Whether it stands for a call into the interpreter by C code.
static inline int PymemrunFrameIsC(const PymemrunFrame* frame) {
  return PYMEMRUN_IS_C_FRAME(frame);
}
// Whether the frame runs Python code. Before the instruction where it can be
// traced it is still being made ready: its cells, or the generator that takes
// it over. What is allocated then is its caller's doing.
static inline int PymemrunFrameRuns(const PymemrunFrame* frame) {
  if (PymemrunFrameIsC(frame)) return 0;
  const PyCodeObject* code = PymemrunFrameCode(frame);
  const char* begin =
      PymemrunFrameBytecode(frame) + (Py_ssize_t)2 * code->_co_firsttraceable;
  return PYMEMRUN_LOAD(const char*, frame, PYMEMRUN_FRAME_INSTRUCTION) >=
             begin ||
         PYMEMRUN_LOAD(char, frame, PYMEMRUN_FRAME_OWNER) ==
             PYMEMRUN_OWNED_BY_GENERATOR;
}
// The frame itself, or the nearest below it that runs Python code, or NULL.
static inline const PymemrunFrame* PymemrunFrameThatRuns(
    const PymemrunFrame* frame) {
  while (frame != NULL && !PymemrunFrameRuns(frame)) {
    frame = PymemrunFramePrevious(frame);
  }
  return frame;
}
// The Python frame that called it, or NULL.
static inline const PymemrunFrame* PymemrunFrameBack(
    const PymemrunFrame* frame) {
  return PymemrunFrameThatRuns(PymemrunFramePrevious(frame));
}
// The innermost frame of the thread, whatever that is, or NULL.
static inline const PymemrunFrame* PymemrunInnermostFrame(
    const PyThreadState* tstate) {
#if PY_VERSION_HEX >= 0x030D0000
  const void* innermost = tstate->current_frame;
#else
  const void* innermost = tstate->cframe->current_frame;
#endif
  return (const PymemrunFrame*)innermost;
}
static inline PyObject* PymemrunFrameGlobals(const PymemrunFrame* frame) {
  return PYMEMRUN_LOAD(PyObject*, frame, PYMEMRUN_FRAME_GLOBALS);
}
// The frame's first local variable (an argument), or NULL. Borrowed.
static inline PyObject* PymemrunFrameFirstLocal(const PymemrunFrame* frame) {
  return PymemrunFrameCode(frame)->co_nlocalsplus > 0
             ? PymemrunFrameObject(frame, PYMEMRUN_FRAME_LOCALS)
             : NULL;
}

#endif  // PYMEMRUN_TRACER_CPYTHON_FRAMES_H_
