// The built-in module `pymemrun` that a program under the launcher can import.
#ifndef PYMEMRUN_TRACER_SESSION_PYTHON_MODULE_H_
#define PYMEMRUN_TRACER_SESSION_PYTHON_MODULE_H_

#include "tracer/base/trace_config.h"

namespace pymemrun {

class PythonModule {
 public:
  // Adds it to the interpreter's table of built-in modules. `config` is null
  // where nothing is traced: then its functions do nothing. Before
  // Py_InitializeFromConfig.
  static void Register(const TraceConfig* config);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_PYTHON_MODULE_H_
