// What the tracer can do in the version that is compiled for, as constants:
// who asks them needs no preprocessor. Includes nothing but version.h, which
// knows the versions.
#ifndef PYMEMRUN_TRACER_CPYTHON_ABILITIES_H_
#define PYMEMRUN_TRACER_CPYTHON_ABILITIES_H_

#include "tracer/cpython/version.h"

namespace pymemrun {

// The one object for interpreters that have none of their own: it reads nothing
// of theirs.
#ifdef PYMEMRUN_ANY_PYTHON
inline constexpr bool kAnyPython = true;
#else
inline constexpr bool kAnyPython = false;
#endif

// The interpreter has no GIL.
#ifdef Py_GIL_DISABLED
inline constexpr bool kFreeThreaded = true;
#else
inline constexpr bool kFreeThreaded = false;
#endif

// Calls can be traced, thus the event ring has rows; objects be dumped; steps
// of tasks be seen.
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
