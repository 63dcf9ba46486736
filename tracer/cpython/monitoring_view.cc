#include "tracer/cpython/monitoring_view.h"

#include "tracer/cpython/compat.h"

#ifdef PYMEMRUN_MONITORING
namespace pymemrun {
namespace {

PyCFunction g_all_events = nullptr;

// The dict without the bit of the interpreter's tool for profilers. Returns
// null with an exception set. Steals `events`.
PyObject* WithoutOurs(PyObject* events) {
  PyObject* shown = PyDict_New();
  PyObject *name, *tools;
  Py_ssize_t at = 0;
  while (shown != nullptr && PyDict_Next(events, &at, &name, &tools) != 0) {
    const long others = PyLong_AsLong(tools) & ~PymemrunMonitoringToolBit();
    if (others == 0) continue;
    PyObject* value = PyLong_FromLong(others);
    if (value == nullptr || PyDict_SetItem(shown, name, value) != 0) {
      Py_CLEAR(shown);
    }
    Py_XDECREF(value);
  }
  Py_DECREF(events);
  return shown;
}

// Replaces sys.monitoring._all_events(), which says which tools want which
// events.
PyObject* AllEvents(PyObject* self, PyObject* unused) {
  PyObject* events = g_all_events(self, unused);
  const bool only_ours =
      PymemrunMonitoringOn() && *PymemrunMonitoringUsers() == 1;
  return events != nullptr && PyDict_CheckExact(events) && only_ours
             ? WithoutOurs(events)
             : events;
}

}  // namespace

void MonitoringView::Hide() {
  if (g_all_events != nullptr) return;
  PyObject* module = PySys_GetObject("monitoring");  // borrowed
  if (module == nullptr) return;
  PyObject* function = PyObject_GetAttrString(module, "_all_events");
  if (function == nullptr) return PyErr_Clear();
  if (PyCFunction_CheckExact(function)) {
    PyMethodDef* method = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
    g_all_events = method->ml_meth;
    method->ml_meth = AllEvents;
  }
  Py_DECREF(function);
}

}  // namespace pymemrun
#endif  // PYMEMRUN_MONITORING
