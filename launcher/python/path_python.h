// The Python that a shell runs as `python3`. Looks at files only.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_PATH_PYTHON_H_
#define PYMEMRUN_LAUNCHER_PYTHON_PATH_PYTHON_H_

#include <string>

namespace pymemrun {

struct PathPython {
  std::string file;     // empty: none, or `problem` says what is wrong
  std::string by;       // what it was found by, for messages
  std::string problem;  // a whole clause; empty: none
};

// The python3 that is first on `path`, a list as $PATH is. pyenv's script of
// that name starts one of several: the version in `pyenv_version` (that is
// $PYENV_VERSION), in the nearest .python-version from `folder` upwards, or in
// pyenv's own file.
PathPython FindPathPython(const std::string& path, const std::string& folder,
                          const std::string& pyenv_version);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_PATH_PYTHON_H_
