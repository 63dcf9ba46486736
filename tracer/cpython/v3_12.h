// CPython 3.12 and 3.13: as 3.11, with the code object first in a frame, and
// frames of C calls between those of Python (their owner says so).
#ifndef PYMEMRUN_TRACER_CPYTHON_V3_12_H_
#define PYMEMRUN_TRACER_CPYTHON_V3_12_H_

// An object's head is longer in a free-threaded build.
#ifdef Py_GIL_DISABLED
#define PYMEMRUN_FRAMEOBJ_FRAME 40
#else
#define PYMEMRUN_FRAMEOBJ_FRAME 24
#endif
#define PYMEMRUN_FRAME_CODE 0
#define PYMEMRUN_FRAME_PREVIOUS 8
#define PYMEMRUN_FRAME_GLOBALS 24
#define PYMEMRUN_FRAME_INSTRUCTION 56
#define PYMEMRUN_FRAME_STACKTOP 64
#define PYMEMRUN_FRAME_OWNER 70
#define PYMEMRUN_FRAME_LOCALS 72
// What is read of a frame, without its locals.
#define PYMEMRUN_FRAME_HEAD_BYTES 72
#define PYMEMRUN_OWNED_BY_GENERATOR 1
#define PYMEMRUN_OWNED_BY_CSTACK 3
#define PYMEMRUN_IS_C_FRAME(frame) \
  (PYMEMRUN_LOAD(char, frame, PYMEMRUN_FRAME_OWNER) == PYMEMRUN_OWNED_BY_CSTACK)

// Its frames can be marked: see frame_mark.h. A frame that waits for a
// generator or a coroutine which it sends a value to has one of two
// instructions in that code unit, as counted from PYMEMRUN_FRAME_INSTRUCTION.
#ifndef Py_GIL_DISABLED
#define PYMEMRUN_FRAME_MARKS 1
#if PY_VERSION_HEX >= 0x030D0000
#define PYMEMRUN_SEND_UNIT 0
#define PYMEMRUN_SEND 104
#define PYMEMRUN_SEND_GEN 208
#else
#define PYMEMRUN_SEND_UNIT (-1)
#define PYMEMRUN_SEND 123
#define PYMEMRUN_SEND_GEN 168
#endif
#endif

#include "tracer/cpython/frames.h"

#endif  // PYMEMRUN_TRACER_CPYTHON_V3_12_H_
