// Where a dump of the object graph begins: interpreters, threads, frames, and
// what the cycle collector tracks. As object_graph.h, for a forked child that
// holds the GIL.
#ifndef PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_ROOTS_H_
#define PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_ROOTS_H_

#include "tracer/cpython/objects/object_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

// Each interpreter whose GIL the caller holds. NULL: there is no further one.
PyInterpreterState* PymemrunNextInterpreter(PyInterpreterState* interpreter);
PyObject* PymemrunModules(PyInterpreterState* interpreter);
void PymemrunInterpreterEdges(PyInterpreterState* interpreter,
                              const PymemrunSink* sink);
// What no field of the interpreter holds: static types.
void PymemrunStaticTypes(PyInterpreterState* interpreter,
                         const PymemrunSink* sink);
// Strings that are interned, where they can be found.
void PymemrunInternedStrings(PyInterpreterState* interpreter,
                             const PymemrunSink* sink);

PyThreadState* PymemrunNextThread(PyInterpreterState* interpreter,
                                  PyThreadState* thread);
// All that a thread refers to but its frames.
void PymemrunThreadEdges(PyThreadState* thread, const PymemrunSink* sink);
// Its name as `threading` has it, a str, or NULL.
PyObject* PymemrunThreadName(PyThreadState* thread);
// The kernel's number of it; before 3.11, what pthread_self() says.
unsigned long PymemrunThreadNumber(const PyThreadState* thread);

// Each running frame of a thread, innermost first: that below `frame`, which is
// NULL at first. Where frames are objects, frame and object are the same.
enum { kPymemrunFramesAreObjects = PY_VERSION_HEX < 0x030B0000 };
const void* PymemrunNextRunningFrame(PyThreadState* thread, const void* frame);
// What it runs is called, qualified since 3.11; a str.
PyObject* PymemrunRunningName(const void* frame);
int PymemrunRunningLine(const void* frame);
void PymemrunFrameEdges(const void* frame, const PymemrunSink* sink);

// Calls `visit` with each object that the cycle collector tracks; `frozen`:
// with those in the permanent generation, else with those in the others.
void PymemrunTrackedObjects(PyInterpreterState* interpreter, int frozen,
                            visitproc visit, void* arg);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_ROOTS_H_
