#include <Python.h>
// Python.h wants to be first.
#include <sys/prctl.h>

#include "launcher/preload/delivery.h"
#include "launcher/python_runtime.h"
#include "launcher/session/exit_report.h"
#include "launcher/session/message.h"

namespace pymemrun {
namespace {

constexpr int kUsage = 2;

// Py_BytesMain does the same steps with the same arguments (Modules/main.c),
// except that it frees the runtime before it ends on an error.
std::vector<char*> ArgumentVector(const PythonStart& start) {
  std::vector<char*> argv = {const_cast<char*>(start.program.c_str())};
  for (const std::string& argument : start.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  return argv;
}

// On an error prints it as python does, and ends the process.
void EndOnFailure(const PyStatus& status) {
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

// The programs that this one starts, if they are to be traced.
void FollowPrograms(const TraceRequest& request) {
  const std::string output = StartedProgramsOutput();
  std::string error;
  if (!output.empty() &&
      !FollowIntoPrograms(*request.command_line, output, &error)) {
    Say("--follow all: " + error);
  }
}

void SetSysExecutable(const std::string& path) {
  PyObject* text = PyUnicode_DecodeFSDefault(path.c_str());
  if (text == nullptr || PySys_SetObject("executable", text) != 0) {
    PyErr_Clear();
  }
  Py_XDECREF(text);
}

// Locale and memory allocators, from the arguments.
void PreinitializePython(std::vector<char*> argv) {
  PyPreConfig preconfig;
  PyPreConfig_InitPythonConfig(&preconfig);
  EndOnFailure(Py_PreInitializeFromBytesArgs(
      &preconfig, static_cast<Py_ssize_t>(argv.size()) - 1, argv.data()));
}

}  // namespace

// The tracer starts before Python does, so that it has its place before the
// interpreter's first allocation. Then the steps of Modules/main.c.
int RunPython(const PythonStart& start, const TraceRequest* request) {
  if (request != nullptr) {
    if (!StartTracing(*request)) return kUsage;
    FollowPrograms(*request);
  }
  // As the kernel names a process that executes this Python.
  prctl(PR_SET_NAME,
        start.program.substr(start.program.rfind('/') + 1).c_str());
  std::vector<char*> argv = ArgumentVector(start);
  PreinitializePython(argv);
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  PyStatus status = PyConfig_SetBytesArgv(
      &config, static_cast<Py_ssize_t>(argv.size()) - 1, argv.data());
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  EndOnFailure(status);
  if (!start.test_executable.empty()) SetSysExecutable(start.test_executable);
  // Those that were installed first are called last.
  Py_AtExit(HoldInterrupt);
  const int exit_status = Py_RunMain();
  LetInterruptGo();
  return exit_status;
}

EmbeddedPython PythonEmbedded() {
  return {PY_VERSION, PYMEMRUN_PYTHON_EXECUTABLE, PYMEMRUN_PYTHON_LINK};
}

}  // namespace pymemrun
