#include "tracer/calls/monitoring_callbacks.h"

#ifdef PYMEMRUN_MONITORING
namespace pymemrun {
namespace {

// What the script's profiler on this thread has been told.
struct Told {
  bool running;
  uint64_t open_calls;  // C calls whose begin it was told
};
constinit thread_local Told t_told = {};

// Whether the script's profiler gets this event. Without the tracer, code is
// instrumented only while a tool asks for events. So a profiler never gets the
// end of a C call that began before it. With the tracer it would.
bool IsToHear(PymemrunCallback callback, PyObject* const* args, size_t nargsf) {
  Told& told = t_told;
  if (!PymemrunHasProfiler()) {
    told = {};
    return false;
  }
  if (!told.running) told = {true, 0};
  CalledFunction unused;
  if (callback < kPymemrunCall || !CFunctionOf(args, nargsf, &unused)) {
    return true;
  }
  if (callback == kPymemrunCall) {
    ++told.open_calls;
    return true;
  }
  if (told.open_calls == 0) return false;
  --told.open_calls;
  return true;
}

bool IsBuiltin(PyObject* callable) {
  return PyType_IsSubtype(Py_TYPE(callable), &PyCFunction_Type) != 0;
}

// The references stay the builtin's.
void Borrow(PyObject* builtin, CalledFunction* found) {
  const auto* function = reinterpret_cast<const PyCFunctionObject*>(builtin);
  *found = {function->m_ml, function->m_self, function->m_module};
}

// Releases of one version differ here, and an argument may be missing: only the
// interpreter's own callback knows. The object that it makes is dropped here.
// What it refers to belongs to the arguments.
bool Ask(PyObject* const* args, size_t nargsf, CalledFunction* found) {
  PyObject* function = PymemrunAskCFunction(args, nargsf);
  if (function == nullptr) return false;
  Borrow(function, found);
  Py_DECREF(function);
  return true;
}

}  // namespace

// Recognises what the interpreter's own callbacks recognise, see
// Python/legacy_tracing.c of CPython.
bool CFunctionOf(PyObject* const* args, size_t nargsf, CalledFunction* found) {
  const Look look = LookAtCallable(args, found);
  if (look != Look::kUnsure) return look == Look::kFunction;
  PyObject* callable = args[2];
  const PyTypeObject* type = Py_TYPE(callable);
  if (type == &PyMethodDescr_Type) {
    const auto* method = reinterpret_cast<const PyMethodDescrObject*>(callable);
    PyTypeObject* self_type = Py_TYPE(args[3]);
    if (self_type == &PyBaseObject_Type) return Ask(args, nargsf, found);
    // Not an instance: the call itself will raise that.
    if (!PyType_IsSubtype(self_type, method->d_common.d_type)) return false;
    *found = {method->d_method, args[3], nullptr};
    return true;
  }
  if (type == &PyMethod_Type) {
    return IsBuiltin(PyMethod_GET_FUNCTION(callable)) &&
           Ask(args, nargsf, found);
  }
  if (!IsBuiltin(callable)) return false;
  Borrow(callable, found);
  return true;
}

PyObject* OwnProfiler::Tell(PymemrunCallback callback, PyObject* self,
                            PyObject* const* args, size_t nargsf) {
  if (!IsToHear(callback, args, nargsf)) return Py_None;  // immortal
  PyObject* result =
      PymemrunMonitoringOriginal()->on[callback](self, args, nargsf, nullptr);
  if (result == nullptr && !PymemrunHasProfiler()) Ended();  // by its exception
  return result;
}

void OwnProfiler::Ended() { t_told = {}; }

}  // namespace pymemrun
#endif  // PYMEMRUN_MONITORING
