// The C half of monitoring.h: what needs CPython's internal headers.
#define Py_BUILD_CORE 1
#include "tracer/cpython/compat.h"

#ifdef PYMEMRUN_MONITORING
#include <opcode.h>
#include <stddef.h>

#include "internal/pycore_ceval.h"
#include "internal/pycore_code.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_instruments.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"

#ifdef PYMEMRUN_FRAME_MARKS
// What frame_mark.h knows of frames that wait.
_Static_assert(offsetof(_PyInterpreterFrame, stacktop) ==
                       PYMEMRUN_FRAME_STACKTOP &&
                   SEND == PYMEMRUN_SEND && SEND_GEN == PYMEMRUN_SEND_GEN &&
                   INLINE_CACHE_ENTRIES_SEND == 1,
               "frame mark");
#endif

// The events that share each callback, or the same one twice.
static const int kEvents[PYMEMRUN_CALLBACKS][2] = {
    {PY_MONITORING_EVENT_PY_START, PY_MONITORING_EVENT_PY_RESUME},
    {PY_MONITORING_EVENT_PY_THROW, PY_MONITORING_EVENT_PY_THROW},
    {PY_MONITORING_EVENT_PY_RETURN, PY_MONITORING_EVENT_PY_YIELD},
    {PY_MONITORING_EVENT_PY_UNWIND, PY_MONITORING_EVENT_PY_UNWIND},
    {PY_MONITORING_EVENT_CALL, PY_MONITORING_EVENT_CALL},
    {PY_MONITORING_EVENT_C_RETURN, PY_MONITORING_EVENT_C_RETURN},
    {PY_MONITORING_EVENT_C_RAISE, PY_MONITORING_EVENT_C_RAISE},
};

static PymemrunCallbacks g_original;
static PyObject* g_objects[PYMEMRUN_CALLBACKS];  // borrowed

// Where the callback object keeps what it calls; NULL when the interpreter has
// none, at its end for instance.
static vectorcallfunc* FunctionOf(PyObject* callback) {
  if (callback == NULL ||
      !PyType_HasFeature(Py_TYPE(callback), Py_TPFLAGS_HAVE_VECTORCALL)) {
    return NULL;
  }
  return (vectorcallfunc*)((char*)callback +
                           Py_TYPE(callback)->tp_vectorcall_offset);
}

static PyInterpreterState* Main(void) { return PyInterpreterState_Main(); }

static int g_on = 0;

void PymemrunMonitoringSwitch(int on) {
  PyInterpreterState* interp = Main();
  PyThreadState* tstate = PyThreadState_Get();
  interp->sys_profiling_threads += on ? 1 : -1;
  g_on = on;
  // The function that fills a profile slot looks at this count and switches the
  // events on or off. It gets the profiler that is there already. Audit hooks
  // are removed for the call: the audit event would reveal a profiler to the
  // script.
  struct _Py_AuditHookEntry* c_hooks = _PyRuntime.audit_hooks.head;
  PyObject* hooks = interp->audit_hooks;
  _PyRuntime.audit_hooks.head = NULL;
  interp->audit_hooks = NULL;
  PyObject* exception = PyErr_GetRaisedException();
  if (PymemrunRealEvalSetProfile(tstate, tstate->c_profilefunc,
                                 tstate->c_profileobj) != 0) {
    PyErr_Clear();  // out of memory: some code goes on as it is
  }
  PyErr_SetRaisedException(exception);
  interp->audit_hooks = hooks;
  _PyRuntime.audit_hooks.head = c_hooks;
}

int PymemrunMonitoringOn(void) { return g_on; }

long PymemrunMonitoringToolBit(void) {
  return 1L << PY_MONITORING_SYS_PROFILE_ID;
}

void PymemrunMonitoringInstall(const PymemrunCallbacks* callbacks) {
  PyObject** objects =
      Main()->monitoring_callables[PY_MONITORING_SYS_PROFILE_ID];
  for (int i = 0; i < 2 * PYMEMRUN_CALLBACKS; ++i) {
    const int at = i / 2;
    PyObject* object = objects[kEvents[at][i % 2]];
    vectorcallfunc* function = FunctionOf(object);
    if (function == NULL) continue;
    if (g_objects[at] == NULL) {  // the first time
      g_objects[at] = object;
      g_original.on[at] = *function;
    }
    *function = callbacks->on[at];
  }
}

const PymemrunCallbacks* PymemrunMonitoringOriginal(void) {
  return &g_original;
}

const Py_ssize_t* PymemrunMonitoringUsers(void) {
  return &Main()->sys_profiling_threads;
}

int PymemrunHasProfiler(void) {
  return PyThreadState_Get()->c_profilefunc != NULL;
}

static PyObject* g_told;

static int Listen(PyObject* unused, PyFrameObject* frame, int what,
                  PyObject* function) {
  (void)unused;
  (void)frame;
  (void)what;
  g_told = Py_NewRef(function);
  return 0;
}

PyObject* PymemrunAskCFunction(PyObject* const* args, size_t nargsf) {
  PyThreadState* tstate = PyThreadState_Get();
  const Py_tracefunc profiler = tstate->c_profilefunc;
  g_told = NULL;
  tstate->c_profilefunc = Listen;
  PyObject* result = g_original.on[kPymemrunCall](g_objects[kPymemrunCall],
                                                  args, nargsf, NULL);
  tstate->c_profilefunc = profiler;
  if (result == NULL) PyErr_Clear();
  Py_XDECREF(result);
  return g_told;
}

int PymemrunCallSoon(int (*call)(void*)) {
  // From 3.13 on the mutex of the GIL is locked to read its holder, which is
  // this thread. This thread has the mutex already. The GIL stays taken in that
  // time.
  pthread_mutex_t* mutex = &Main()->ceval.gil->mutex;
  pthread_mutex_unlock(mutex);
  // For any thread of the interpreter, not for the main one alone.
  const int refused = _PyEval_AddPendingCall(Main(), call, NULL, 0);
  pthread_mutex_lock(mutex);
  return refused == 0;
}
#endif  // PYMEMRUN_MONITORING
