// Everything that depends on the CPython version. Hot functions are inline and
// read structures of the interpreter by offset, because CPython's internal
// headers do not compile as C++. compat.c includes these headers and asserts
// every offset at compile time. A new CPython needs a new v3_NN.h and, where a
// mechanism changed, a case in compat.c.
//
// All functions need the GIL unless their comment says otherwise. Sizes are in
// bytes.
#ifndef PYMEMRUN_TRACER_CPYTHON_COMPAT_H_
#define PYMEMRUN_TRACER_CPYTHON_COMPAT_H_

#include <Python.h>
#include <pthread.h>
#include <stdint.h>

#include "tracer/cpython/version.h"

// Callback for each event.
#ifdef PYMEMRUN_MONITORING
typedef const PymemrunCallbacks* PymemrunHook;
#else
typedef Py_tracefunc PymemrunHook;
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Facts of a code object. Strings are borrowed, valid while the code object
// lives.
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

// Bytes of the array of line numbers that the interpreter keeps for the code
// object only because it is profiled; 0 without such an array.
size_t PymemrunLineArrayBytes(PyCodeObject* code);
// Bytes of the frame object that exists only because this frame is profiled; 0
// if every call or no call has one.
size_t PymemrunFrameObjectBytes(const PymemrunFrame* frame);

// Position of the frame at its first CALL event (as PymemrunFramePosition), if
// its call has a frame object only because it is profiled; otherwise
// 0x7fffffff.
uint32_t PymemrunStartPosition(const PyCodeObject* code);
// Whether the interpreter binds this C function to its object before a profiled
// call, as it does for methods of built-in types.
int PymemrunIsBoundWhenCalled(const PyCFunctionObject* function);
// Bytes of the bound object that may exist because `frame` calls a C function;
// 0 without such an object.
size_t PymemrunBoundObjectBytes(const PymemrunFrame* frame);
// Kind of call at the current instruction of the frame. 0: a plain call; 1: a
// call with a tuple; -1: not a call, or no frame.
int PymemrunCallKind(const PymemrunFrame* frame);
// Whether C code entered the interpreter to run this frame.
int PymemrunEnteredFromC(const PymemrunFrame* frame);

// Writes `text` to `buffer` as UTF-8 with surrogates kept, at most `size`
// bytes. Returns the length needed, which may exceed `size`; 0 if `text` is not
// a str. Allocates nothing.
size_t PymemrunCopyUtf8(PyObject* text, char* buffer, size_t size);

// Writes as much of the text as fits, from character *at on, and moves *at
// behind it. Returns the bytes written, 0 at the end. Does not need the GIL if
// the text is kept alive.
size_t PymemrunUtf8Piece(PyObject* text, Py_ssize_t* at, char* buffer,
                         size_t size);

// Whether the interpreter of the thread is collecting cycles (gc), and this
// thread runs Python code; finalisers may let another thread run in between. 0
// if not known. For the state of the calling thread; does not need the GIL.
int PymemrunIsCollecting(const PyThreadState* tstate);

// Whether the frame is on the used part of the thread's frame stack; always
// true where frames are objects. For the state of the calling thread; does not
// need the GIL.
int PymemrunIsOnFrameStack(const PyThreadState* tstate,
                           const PymemrunFrame* frame);

// Condition variable that a thread signals right after it took the GIL. Valid
// once the interpreter was created. NULL where it is not needed.
const pthread_cond_t* PymemrunGilSwitchCond(void);

// Innermost frame of the thread that runs Python code, or NULL.
const PymemrunFrame* PymemrunTopFrame(PyThreadState* tstate);

// Whether a block of `bytes` that the thread requests now exists only because
// the interpreter is profiled. IsForProfiling: a frame object or a bound
// object. IsLineArray: the array of lines of a code object.
int PymemrunIsForProfiling(PyThreadState* tstate, size_t bytes);
int PymemrunIsLineArray(PyThreadState* tstate, size_t bytes);

#ifdef PYMEMRUN_PROFILE_SLOTS
// Address of the word in which the interpreter keeps the GIL holder's thread
// state.
extern PyThreadState* const volatile* const PymemrunHolderWord;

// Thread state that took the GIL last.
PyThreadState* PymemrunGilLastHolder(void);
// Puts `func` into the profile slot of the thread state. Causes no audit event
// and leaves the object of the slot, so sys.getprofile() still returns None.
void PymemrunSetSlot(PyThreadState* tstate, Py_tracefunc func);
Py_tracefunc PymemrunGetSlot(PyThreadState* tstate);
// From now on freed bound objects are reused. May be called again.
void PymemrunKeepBoundObjects(void);
// Whether a method is now being bound to its object because its call is
// profiled.
int PymemrunEvaluatorBinds(void);
#endif

// Largest request that never reaches the raw domain, unless memory is short; 0:
// all requests may.
size_t PymemrunSmallRequestBytes(void);

// CPython's own function that installs a profile function, from before it was
// redirected.
int PymemrunRealEvalSetProfile(PyThreadState* tstate, Py_tracefunc func,
                               PyObject* arg);

#ifdef __cplusplus
}  // extern "C"
#endif

// Thread state of the GIL holder, or NULL. Without the GIL it may belong to
// another thread. In a free-threaded build: that of the calling thread.
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
