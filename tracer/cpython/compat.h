// Everything that depends on a CPython version, for the whole project. The hot
// half is inline and reads the interpreter's structures by offset, because
// CPython's internal headers do not compile as C++; compat.c includes
// them and asserts every offset at compile time. A new CPython is one new
// v3_NN.h and, where a mechanism changed, a case in compat.c.
//
// GIL: everything here needs it unless a function says otherwise.
#ifndef PYMEMRUN_TRACER_CPYTHON_COMPAT_H_
#define PYMEMRUN_TRACER_CPYTHON_COMPAT_H_

#include <Python.h>
#include <pthread.h>
#include <stdint.h>

#include "tracer/cpython/version.h"

// What is called for each event.
#ifdef PYMEMRUN_MONITORING
typedef const PymemrunCallbacks* PymemrunHook;
#else
typedef Py_tracefunc PymemrunHook;
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Strings of a code object, borrowed, valid while it lives. Lengths in bytes.
typedef struct {
  PyObject* file;
  PyObject* name;
  PyObject* qualname;
  const char* line_table;
  size_t line_table_bytes;
  uint32_t first_line;
  uint32_t line_table_kind;  // LineTableKind
} PymemrunCodeFacts;

void PymemrunCodeFactsOf(PyObject* code, PymemrunCodeFacts* facts);

// Bytes that the interpreter holds for the code object's line numbers because
// it is profiled; 0 where it does not.
size_t PymemrunLineArrayBytes(PyCodeObject* code);
// Bytes of the frame object that profiling makes for this frame; 0 where every
// call has one anyway, or none.
size_t PymemrunFrameObjectBytes(const PymemrunFrame* frame);

// Position (as PymemrunFramePosition) of a frame whose CALL event is its first,
// where its call has a frame object only because it is profiled; else
// 0x7fffffff.
uint32_t PymemrunStartPosition(const PyCodeObject* code);
// Whether a profiled call of this C function makes the interpreter bind it to
// its object first, as it does with a method of a built-in type.
int PymemrunIsBoundWhenCalled(const PyCFunctionObject* function);
// Bytes of the bound object that may live because `frame` calls a C function;
// 0 where it does not, or no such object is made.
size_t PymemrunBoundObjectBytes(const PymemrunFrame* frame);
// 0: its instruction calls; 1: it calls with a tuple; -1: neither, or no frame.
int PymemrunCallKind(const PymemrunFrame* frame);
// Whether C code entered the interpreter to run this frame.
int PymemrunEnteredFromC(const PymemrunFrame* frame);

// Writes `text` (a str, or anything: then nothing) as UTF-8, surrogates kept,
// to `buffer` and returns the length needed, which may exceed `size`; at most
// `size` bytes were written. Allocates nothing.
size_t PymemrunCopyUtf8(PyObject* text, char* buffer, size_t size);

// Writes the text from character *at on, as far as it fits, the same way, and
// moves *at behind it. Returns the bytes written, 0 at the end. Needs no GIL
// where the text is kept alive.
size_t PymemrunUtf8Piece(PyObject* text, Py_ssize_t* at, char* buffer,
                         size_t size);

// Whether the thread's interpreter collects cycles (gc), and the thread is the
// one that runs Python code: finalisers may let another in meanwhile. 0 where
// it is not known. Of the calling thread's state, without the GIL.
int PymemrunIsCollecting(const PyThreadState* tstate);

// Whether the frame lies on the thread's own frame stack, in use; always so
// where frames are objects. Of the calling thread's state, without the GIL.
int PymemrunIsOnFrameStack(const PyThreadState* tstate,
                           const PymemrunFrame* frame);

// The condition variable that a thread signals right after it has taken the
// GIL; valid from interpreter creation on. NULL where nobody need know.
const pthread_cond_t* PymemrunGilSwitchCond(void);

// The innermost frame of the thread that runs Python code, or NULL.
const PymemrunFrame* PymemrunTopFrame(PyThreadState* tstate);

// Whether a block of `bytes` that the thread asks for now is an object that the
// interpreter needs only because it is profiled: the frame object of a call, or
// a bound object; or, of other memory, a code object's array of lines.
int PymemrunIsForProfiling(PyThreadState* tstate, size_t bytes);
int PymemrunIsLineArray(PyThreadState* tstate, size_t bytes);

#ifdef PYMEMRUN_PROFILE_SLOTS
// Where the interpreter keeps the GIL holder's thread state.
extern PyThreadState* const volatile* const PymemrunHolderWord;

// The thread state that took the GIL last.
PyThreadState* PymemrunGilLastHolder(void);
// Puts `func` into the thread state's profile slot without audit event and
// without touching the slot's object, so that sys.getprofile() stays None.
void PymemrunSetSlot(PyThreadState* tstate, Py_tracefunc func);
Py_tracefunc PymemrunGetSlot(PyThreadState* tstate);
// From now on bound objects that died are used again. May be called again.
void PymemrunKeepBoundObjects(void);
// Whether a method is being bound to its object because its call is profiled.
int PymemrunEvaluatorBinds(void);
#endif

// Requests up to so many bytes never reach the raw domain, but where memory is
// short; 0: all may.
size_t PymemrunSmallRequestBytes(void);

// CPython's own ways of installing a profile function, before our redirection.
int PymemrunRealEvalSetProfile(PyThreadState* tstate, Py_tracefunc func,
                               PyObject* arg);

#ifdef __cplusplus
}  // extern "C"
#endif

// The thread state of whoever holds the GIL, or NULL. Without the GIL it may be
// another thread's. In a free-threaded build: the calling thread's.
static inline PyThreadState* PymemrunGilHolder(void) {
#if defined(PYMEMRUN_ANY_PYTHON)
  return NULL;
#elif PY_VERSION_HEX < 0x030C0000
  return *PymemrunHolderWord;
#elif PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

#endif  // PYMEMRUN_TRACER_CPYTHON_COMPAT_H_
