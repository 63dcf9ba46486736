// What our callbacks for sys.monitoring's events have in common: which event of
// sys.setprofile's each is, and the script's own profilers, which are told
// after us. CPython 3.12 and later. GIL held.
#ifndef PYMEMRUN_TRACER_CALLS_MONITORING_CALLBACKS_H_
#define PYMEMRUN_TRACER_CALLS_MONITORING_CALLBACKS_H_

#include "tracer/cpython/compat.h"
#include "tracer/wire/ring_layout.h"

#ifdef PYMEMRUN_MONITORING
namespace pymemrun {

constexpr EventWhat EventOf(PymemrunCallback callback) {
  constexpr EventWhat kEvents[PYMEMRUN_CALLBACKS] = {
      EventWhat::kCall,   EventWhat::kCall,  EventWhat::kReturn,
      EventWhat::kReturn, EventWhat::kCCall, EventWhat::kCReturn,
      EventWhat::kCExcept};
  return kEvents[callback];
}

// The C function of a C event, borrowed from the callback's arguments.
struct CalledFunction {
  const PyMethodDef* method;
  PyObject* self;
  PyObject* module;
};

// What sys.setprofile would tell a profiler of the callable of a C event: a
// built-in function, or a method descriptor as the method that it is of its
// first argument. Returns false for any other callable, which is no C event.
bool CFunctionOf(PyObject* const* args, size_t nargsf, CalledFunction* found);

// The same as far as a look is enough.
enum class Look { kFunction, kNoFunction, kUnsure };
inline Look LookAtCallable(PyObject* const* args, CalledFunction* found) {
  PyObject* callable = args[2];
  const PyTypeObject* type = Py_TYPE(callable);
  if (type == &PyMethodDescr_Type) {
    const auto* method = reinterpret_cast<const PyMethodDescrObject*>(callable);
    const PyTypeObject* self_type = Py_TYPE(args[3]);
    *found = {method->d_method, args[3], nullptr};
    return __builtin_expect(self_type == method->d_common.d_type &&
                                self_type != &PyBaseObject_Type,
                            1)
               ? Look::kFunction
               : Look::kUnsure;
  }
  if (type == &PyCFunction_Type) {
    const auto* function = reinterpret_cast<const PyCFunctionObject*>(callable);
    *found = {function->m_ml, function->m_self, function->m_module};
    return Look::kFunction;
  }
  return type == &PyFunction_Type || type == &PyType_Type ? Look::kNoFunction
                                                          : Look::kUnsure;
}

class OwnProfiler {
 public:
  // Tells the calling thread's, if the script has set one and it is to hear of
  // this event. Returns what the callback `self` is to return.
  static PyObject* Tell(PymemrunCallback callback, PyObject* self,
                        PyObject* const* args, size_t nargsf);
  // The calling thread has none any more.
  static void Ended();
};

}  // namespace pymemrun
#endif  // PYMEMRUN_MONITORING

#endif  // PYMEMRUN_TRACER_CALLS_MONITORING_CALLBACKS_H_
