// CPython 3.11: frames live in the interpreter's own stack; a profile callback
// gets a frame object made for the purpose, which points at one.
#ifndef PYMEMRUN_TRACER_CPYTHON_V3_11_H_
#define PYMEMRUN_TRACER_CPYTHON_V3_11_H_

// Offsets into PyFrameObject and _PyInterpreterFrame, asserted in
// compat.c.
#define PYMEMRUN_FRAMEOBJ_FRAME 24
#define PYMEMRUN_FRAME_GLOBALS 8
#define PYMEMRUN_FRAME_CODE 32
#define PYMEMRUN_FRAME_PREVIOUS 48
#define PYMEMRUN_FRAME_INSTRUCTION 56
#define PYMEMRUN_FRAME_STACKTOP 64
#define PYMEMRUN_FRAME_IS_ENTRY 68
#define PYMEMRUN_FRAME_OWNER 69
#define PYMEMRUN_FRAME_LOCALS 72
#define PYMEMRUN_OWNED_BY_GENERATOR 1
// What is read of a frame, without its locals.
#define PYMEMRUN_FRAME_HEAD_BYTES 72
// Every frame of the chain runs Python code.
#define PYMEMRUN_IS_C_FRAME(frame) 0

// Its frames can be marked: see frame_mark.h.
#define PYMEMRUN_FRAME_MARKS 1

#include "tracer/cpython/frames.h"

#endif  // PYMEMRUN_TRACER_CPYTHON_V3_11_H_
