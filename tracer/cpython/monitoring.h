// Where the events of CPython 3.12 and later come from: sys.monitoring has an
// internal tool for sys.setprofile, with a number that no script can take or
// see. The interpreter's own callbacks of that tool stay in their places; what
// they call is exchanged. So no tool id of the script's is used up,
// sys.setprofile goes on to work (our callbacks call the interpreter's where a
// thread has a profiler), and every thread of the interpreter is covered at
// once.
//
// Main interpreter only; GIL.
#ifndef PYMEMRUN_TRACER_CPYTHON_MONITORING_H_
#define PYMEMRUN_TRACER_CPYTHON_MONITORING_H_

#include <Python.h>
#include <stdint.h>

#ifdef Py_GIL_DISABLED
#error "pymemrun needs the GIL: an event has one number over all threads"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The interpreter's callbacks: each serves one or two events of sys.monitoring
// and stands for one kind of sys.setprofile's.
typedef enum {
  kPymemrunStart,    // PY_START, PY_RESUME: call
  kPymemrunThrow,    // PY_THROW: call
  kPymemrunReturn,   // PY_RETURN, PY_YIELD: return
  kPymemrunUnwind,   // PY_UNWIND: return
  kPymemrunCall,     // CALL: c_call, when it is a C function's
  kPymemrunCReturn,  // C_RETURN: c_return
  kPymemrunCRaise,   // C_RAISE: c_exception
} PymemrunCallback;
#define PYMEMRUN_CALLBACKS 7

// Function called by each callback. The arguments are those of sys.monitoring
// callbacks: code, offset in bytes, and for C events the callable and its first
// argument. Returns None, or NULL with an exception set.
typedef struct {
  vectorcallfunc on[PYMEMRUN_CALLBACKS];
} PymemrunCallbacks;

// Makes the interpreter deliver events, or ends that as far as no profiler of
// the script's wants them. Unheard by audit hooks. Takes effect for all code,
// also for what runs now. REQUIRES: on and off in turn.
void PymemrunMonitoringSwitch(int on);
int PymemrunMonitoringOn(void);
// The tool's bit where sys.monitoring shows tools.
long PymemrunMonitoringToolBit(void);

// From here on the callbacks call these. After the first Switch(1).
void PymemrunMonitoringInstall(const PymemrunCallbacks* callbacks);
// What they call by themselves, for a thread that has a profiler of its own.
// Valid after the first Install.
const PymemrunCallbacks* PymemrunMonitoringOriginal(void);

// How many ask for events: ours counts as one, each thread that has a profiler
// as one more. The address is valid for ever.
const Py_ssize_t* PymemrunMonitoringUsers(void);
// Whether the calling thread has a profiler of its own.
int PymemrunHasProfiler(void);

// What sys.setprofile's callback would be told for a CALL of `args[2]`, as far
// as only the interpreter can say: the C function, a new reference, or NULL
// for none. Changes nothing. Slow.
PyObject* PymemrunAskCFunction(PyObject* const* args, size_t nargsf);

// Makes the interpreter call it, with the GIL, before this thread goes on with
// Python code; or another thread, if this one gives the GIL away before that.
// It returns 0. Returns 0 where too many calls wait. REQUIRES: the thread is
// signalling PymemrunGilSwitchCond().
int PymemrunCallSoon(int (*call)(void*));

#ifdef __cplusplus
}  // extern "C"
#endif

// The value of a callback's second argument. REQUIRES: an int of one digit,
// which every offset is.
static inline uint32_t PymemrunOffsetOf(PyObject* offset) {
  return ((const PyLongObject*)offset)->long_value.ob_digit[0];
}

#endif  // PYMEMRUN_TRACER_CPYTHON_MONITORING_H_
