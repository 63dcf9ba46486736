// Abilities of the tracer in the CPython version it is compiled for, as
// constants, so that other code needs no preprocessor. Includes only version.h,
// which knows the versions.
#ifndef PYMEMRUN_TRACER_CPYTHON_ABILITIES_H_
#define PYMEMRUN_TRACER_CPYTHON_ABILITIES_H_

#include "tracer/cpython/version.h"

namespace pymemrun {

// The tracer for interpreters without a tracer of their own: it reads no
// structures of the interpreter.
#ifdef PYMEMRUN_ANY_PYTHON
inline constexpr bool kAnyPython = true;
#else
inline constexpr bool kAnyPython = false;
#endif

// Whether the interpreter has no GIL.
#ifdef Py_GIL_DISABLED
inline constexpr bool kFreeThreaded = true;
#else
inline constexpr bool kFreeThreaded = false;
#endif

// Whether calls can be traced, so that the event ring has rows; whether objects
// can be dumped; whether task steps can be traced.
#ifdef PYMEMRUN_NO_CALLS
inline constexpr bool kTracesCalls = false;
#else
inline constexpr bool kTracesCalls = true;
#endif
#ifdef PYMEMRUN_NO_OBJECTS
inline constexpr bool kDumpsObjects = false;
#else
inline constexpr bool kDumpsObjects = true;
#endif
#ifdef PYMEMRUN_TASKS
inline constexpr bool kTracesTasks = true;
#else
inline constexpr bool kTracesTasks = false;
#endif

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CPYTHON_ABILITIES_H_
