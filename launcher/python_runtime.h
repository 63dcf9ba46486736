// The embedded interpreter: configured and run so that the program sees what it
// would see under `program` itself. no_python_runtime.cc is for a pymemrun that
// embeds none.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_RUNTIME_H_
#define PYMEMRUN_LAUNCHER_PYTHON_RUNTIME_H_

#include <string>
#include <vector>

#include "launcher/session/trace_start.h"

namespace pymemrun {

struct PythonStart {
  std::string program;                 // argv[0]: the python to look like
  std::vector<std::string> arguments;  // the interpreter's, without argv[0]
  std::string test_executable;  // not empty: sys.executable after the start
};

// Starts what `request` asks for (null: nothing), initialises Python and runs
// the program. Returns the exit status, 2 where tracing cannot start. An error
// in the arguments, a help text or a failed start end the process by exit()
// with python's own message and status.
int RunPython(const PythonStart& start, const TraceRequest* request);

// As compiled in; all empty where nothing is embedded.
struct EmbeddedPython {
  const char* version;     // "3.11.2"
  const char* executable;  // whose library it is
  const char* link;        // "static" or "shared"
};
EmbeddedPython PythonEmbedded();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_RUNTIME_H_
