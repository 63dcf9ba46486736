// The embedded interpreter: configured and run so that the program sees what it
// would see under `program` itself.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_RUNTIME_H_
#define PYMEMRUN_LAUNCHER_PYTHON_RUNTIME_H_

#include <string>
#include <vector>

namespace pymemrun {

struct PythonStart {
  std::string program;                 // argv[0]: the python to look like
  std::vector<std::string> arguments;  // the interpreter's, without argv[0]
  std::string test_executable;  // not empty: sys.executable after the start
};

// Runs Python's pre-initialisation (locale, memory allocators) from the
// arguments. Ends the process, as python does, when that fails.
void PreinitializePython(const PythonStart& start);

// Initialises Python and runs the program. Returns the exit status. An error in
// the arguments, a help text or a failed start end the process by exit() with
// python's own message and status. REQUIRES: PreinitializePython ran.
int RunPython(const PythonStart& start);

// "3.11.2", as compiled in.
const char* PythonVersionText();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_RUNTIME_H_
