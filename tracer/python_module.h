// The built-in module `pymemrun` that a program under the launcher can import.
#ifndef PYMEMRUN_TRACER_PYTHON_MODULE_H_
#define PYMEMRUN_TRACER_PYTHON_MODULE_H_

namespace pymemrun {

class PythonModule {
 public:
  // Adds it to the interpreter's table of built-in modules. `calls`: start()
  // arms the profile hook. Before Py_InitializeFromConfig.
  static void Register(bool calls);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PYTHON_MODULE_H_
