// Signals, and exceptions sent to other threads, under CPython 3.11.
//
// A profiled thread looks for pending work at the start of each function. In
// that version it then starts the first instruction again, where an unprofiled
// thread continues. Work that only another thread can do is found again and
// again: the thread stays there until another one asks for the GIL. If none
// does, the program hangs, with any profiler. Two cases: the main thread waits
// in lock.acquire() for this thread and gets a signal after which system calls
// continue; or an exception is sent to a sleeping thread.
//
// So work is announced only to the thread that can do it. That thread looks for
// it whenever it takes the GIL: nothing is missed.
#define Py_BUILD_CORE 1
#include "tracer/cpython/compat.h"

#if (defined(PYMEMRUN_STATIC_PYTHON) || defined(PYMEMRUN_PRELOADED)) && \
    PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#include "internal/pycore_ceval.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"

#ifdef PYMEMRUN_STATIC_PYTHON
// The originals, renamed (tracer/CMakeLists.txt).
void pymemrun_real__PyEval_SignalReceived(PyInterpreterState* interp);
void pymemrun_real__PyEval_SignalAsyncExc(PyInterpreterState* interp);
#else
// The originals jump to ours (replaced_functions.h). So this is what they did.
static void pymemrun_real__PyEval_SignalReceived(PyInterpreterState* interp) {
  if (_Py_ThreadCanHandleSignals(interp)) {
    _Py_atomic_store_relaxed(&interp->ceval.eval_breaker, 1);
  }
}
static void pymemrun_real__PyEval_SignalAsyncExc(PyInterpreterState* interp) {
  interp->ceval.pending.async_exc = 1;
  _Py_atomic_store_relaxed(&interp->ceval.eval_breaker, 1);
}
#endif

// Also true for an instant in which another thread takes over from this one: it
// looks for work after that.
static int HoldsGil(void) {
  struct _gil_runtime_state* gil = &_PyRuntime.ceval.gil;
  const PyThreadState* own = PyGILState_GetThisThreadState();
  if (own != NULL && _Py_atomic_load_relaxed(&gil->locked) == 1 &&
      (const PyThreadState*)_Py_atomic_load_relaxed(&gil->last_holder) == own) {
    return 1;
  }
  // In a subinterpreter the thread has another state.
  const PyThreadState* current = _PyThreadState_GET();
  return current != NULL && current->thread_id == PyThread_get_thread_ident();
}

// A signal came. In its handler, on any thread, with the GIL or without.
void _PyEval_SignalReceived(PyInterpreterState* interp) {
  _Py_atomic_store_relaxed(&_PyRuntime.ceval.signals_pending, 1);
  if (HoldsGil()) {
    pymemrun_real__PyEval_SignalReceived(interp);
  }
}

// A thread's async_exc was set, or taken back. GIL held. Without a current
// state a thread finds its own as it takes the GIL.
void _PyEval_SignalAsyncExc(PyInterpreterState* interp) {
  const PyThreadState* current = _PyThreadState_GET();
  if (current == NULL || current->async_exc != NULL) {
    pymemrun_real__PyEval_SignalAsyncExc(interp);
  }
}
#endif
