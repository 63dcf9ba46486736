// CPython 3.14: as 3.13, with tagged references in a frame, whose lowest bit is
// set where no count belongs to them. In a free-threaded build each thread runs
// a copy of the code of its own.
#ifndef PYMEMRUN_TRACER_CPYTHON_V3_14_H_
#define PYMEMRUN_TRACER_CPYTHON_V3_14_H_

#ifdef Py_GIL_DISABLED
#define PYMEMRUN_FRAMEOBJ_FRAME 40
#define PYMEMRUN_FRAME_BYTECODE_INDEX 72
#define PYMEMRUN_FRAME_OWNER 78
#else
#define PYMEMRUN_FRAMEOBJ_FRAME 24
#define PYMEMRUN_FRAME_OWNER 74
#endif
#define PYMEMRUN_FRAME_CODE 0
#define PYMEMRUN_FRAME_PREVIOUS 8
#define PYMEMRUN_FRAME_GLOBALS 24
#define PYMEMRUN_FRAME_INSTRUCTION 56
#define PYMEMRUN_FRAME_LOCALS 80
// What is read of a frame, without its locals.
#define PYMEMRUN_FRAME_HEAD_BYTES 80
#define PYMEMRUN_FRAME_TAG 1
#define PYMEMRUN_OWNED_BY_GENERATOR 1
// From here on: the interpreter's own entry, or C code.
#define PYMEMRUN_OWNED_BY_INTERPRETER 3
#define PYMEMRUN_IS_C_FRAME(frame)                     \
  (PYMEMRUN_LOAD(char, frame, PYMEMRUN_FRAME_OWNER) >= \
   PYMEMRUN_OWNED_BY_INTERPRETER)

#include "tracer/cpython/frames.h"

#endif  // PYMEMRUN_TRACER_CPYTHON_V3_14_H_
