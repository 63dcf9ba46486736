// Which python the run is to look like: the one built in, an active virtual
// environment's, or the one that --python names. Looks at files only; no
// python is executed.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_PYTHON_CHOICE_H_
#define PYMEMRUN_LAUNCHER_PYTHON_PYTHON_CHOICE_H_

#include <string>

#include "launcher/options/options.h"

namespace pymemrun {

// Where a choice can come from; empty strings: not given. In falling order,
// except that a virtual environment that is first on `path` comes before
// `folder`, and any other python3 there before `built_in`:
struct PythonWishes {
  std::string option;         // --python
  std::string virtual_env;    // $VIRTUAL_ENV
  std::string script;         // whose first line may name an interpreter
  std::string folder;         // with a .venv in it, or in one above
  std::string launcher;       // our own path as executed, as venv/bin/pymemrun
  std::string built_in;       // the interpreter that we were built with
  std::string path;           // $PATH: a --python without a slash, or python3
  std::string pyenv_version;  // $PYENV_VERSION
  // Why the program cannot be traced; empty: it can.
  std::string (*why_not)(const std::string& file) = nullptr;
};

struct PythonChoice {
  std::string program;   // what argv[0] and PyConfig.program_name shall be
  std::string file;      // the file of it
  bool embedded = true;  // else that file is to be executed
  // One line each, or empty. What would come first and is left out, and why.
  std::string refused;
  // Which Python runs instead of python3 on PATH, and why.
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
