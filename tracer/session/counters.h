// Counters of a run (--trace counters): what the program says by
// pymemrun.counter(), and the runs of Python's cycle collector. What /proc
// knows the collector reads by itself.
#ifndef PYMEMRUN_TRACER_SESSION_COUNTERS_H_
#define PYMEMRUN_TRACER_SESSION_COUNTERS_H_

#include <Python.h>

#include "tracer/base/trace_config.h"

namespace pymemrun {

class Counters {
 public:
  // What is to be recorded; null: nothing. Before the interpreter is there,
  // behind all additions to its table of built-in modules.
  static void Prepare(const TraceConfig* config);
  // Whether the cycle collector's runs will be recorded.
  static bool hears_gc_runs();
  // From here on the cycle collector's runs are recorded. In the main
  // interpreter, when it runs. GIL.
  static void Start();
  // The interpreter begins to finalise. GIL.
  static void End();

  // pymemrun.counter(name, value).
  static PyObject* Counter(PyObject*, PyObject* const* arguments,
                           Py_ssize_t count);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_COUNTERS_H_
