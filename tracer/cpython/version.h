// The header of the version that is compiled for, and the mechanism by which
// events come in it.
#ifndef PYMEMRUN_TRACER_CPYTHON_VERSION_H_
#define PYMEMRUN_TRACER_CPYTHON_VERSION_H_

#include <Python.h>

// Calls have one number over all threads, in an order that only the GIL gives.
// Their hooks read structures of the interpreter's.
#if defined(Py_GIL_DISABLED) || defined(PYMEMRUN_ANY_PYTHON)
#define PYMEMRUN_NO_CALLS 1
#endif

// Objects of these interpreters cannot be dumped.
#if defined(PYMEMRUN_NO_CALLS) || PY_VERSION_HEX >= 0x030F0000
#define PYMEMRUN_NO_OBJECTS 1
#endif

// Steps of tasks: coroutines have no such functions before 3.10.
#if !defined(PYMEMRUN_NO_CALLS) && PY_VERSION_HEX >= 0x030A0000
#define PYMEMRUN_TASKS 1
#endif

#ifdef PYMEMRUN_ANY_PYTHON
#include "tracer/cpython/v_any.h"
#elif PY_VERSION_HEX >= 0x030F0000
#error \
    "pymemrun knows CPython 3.9 to 3.14; a newer one needs its own header here"
#elif PY_VERSION_HEX >= 0x030E0000
#include "tracer/cpython/v3_14.h"
#elif PY_VERSION_HEX >= 0x030C0000
#include "tracer/cpython/v3_12.h"
#elif PY_VERSION_HEX >= 0x030B0000
#include "tracer/cpython/v3_11.h"
#else
#include "tracer/cpython/v3_9.h"
#endif

#if !defined(PYMEMRUN_NO_CALLS) && PY_VERSION_HEX < 0x030C0000
// Events come from the profile slot of each thread.
#define PYMEMRUN_PROFILE_SLOTS 1
#elif !defined(PYMEMRUN_NO_CALLS)
// Events come from callbacks of sys.monitoring, for all threads.
#define PYMEMRUN_MONITORING 1
#include "tracer/cpython/monitoring.h"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_VERSION_H_
