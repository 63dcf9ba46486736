#include <Python.h>
// Python.h wants to be first.
#include "launcher/python_runtime.h"
#include "launcher/session/pending_interrupt.h"

namespace pymemrun {
namespace {

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

void EndOnFailure(const PyStatus& status) {
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

void SetSysExecutable(const std::string& path) {
  PyObject* text = PyUnicode_DecodeFSDefault(path.c_str());
  if (text == nullptr || PySys_SetObject("executable", text) != 0) {
    PyErr_Clear();
  }
  Py_XDECREF(text);
}

}  // namespace

void PreinitializePython(const PythonStart& start) {
  std::vector<char*> argv = ArgumentVector(start);
  PyPreConfig preconfig;
  PyPreConfig_InitPythonConfig(&preconfig);
  EndOnFailure(Py_PreInitializeFromBytesArgs(
      &preconfig, static_cast<Py_ssize_t>(argv.size()) - 1, argv.data()));
}

int RunPython(const PythonStart& start) {
  std::vector<char*> argv = ArgumentVector(start);
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

const char* PythonVersionText() { return PY_VERSION; }

}  // namespace pymemrun
