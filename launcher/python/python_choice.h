// Chooses the Python of the run: the built-in one, that of a virtual
// environment, or the one named by --python. Only looks at files; runs no
// Python.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_PYTHON_CHOICE_H_
#define PYMEMRUN_LAUNCHER_PYTHON_PYTHON_CHOICE_H_

#include <string>

#include "launcher/options/options.h"

namespace pymemrun {

// Sources of the choice, in the order of precedence; empty strings: not given.
// Exceptions: a virtual environment that is first on `path` comes before
// `folder`, and any other python3 there before `built_in`.
struct PythonWishes {
  std::string option;         // --python
  std::string virtual_env;    // $VIRTUAL_ENV
  std::string script;         // its first line may name an interpreter
  std::string folder;         // searched upwards for a .venv
  std::string launcher;       // path of the executable, e.g. venv/bin/pymemrun
  std::string built_in;       // the interpreter of the build
  std::string path;           // $PATH: a --python without a slash, or python3
  std::string pyenv_version;  // $PYENV_VERSION
  // Returns why the program cannot be traced; empty: it can.
  std::string (*why_not)(const std::string& file) = nullptr;
};

struct PythonChoice {
  std::string program;   // for argv[0] and PyConfig.program_name
  std::string file;      // its file
  bool embedded = true;  // otherwise `file` is executed
  // A line about Pythons of higher precedence that were not used, and why; or
  // empty.
  std::string refused;
  // A line about the Python that runs instead of python3 on PATH, and why; or
  // empty.
  std::string preferred;
};

// `version` is the embedded interpreter's, as "3.11.2". It is empty where
// nothing is embedded: then the python beside the launcher counts too. Python3
// on PATH that cannot be traced gives way to the built-in one. Returns false,
// with one line in *error, if the wished python is no interpreter that can be
// executed, or is of another installation's version and only embedding is
// allowed; then the line names both versions.
bool ChoosePython(const PythonWishes& wishes, const std::string& version,
                  Delivery delivery, PythonChoice* choice, std::string* error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_PYTHON_CHOICE_H_
