// Finds the Python that a shell runs as `python3`. Only looks at files.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_PATH_PYTHON_H_
#define PYMEMRUN_LAUNCHER_PYTHON_PATH_PYTHON_H_

#include <string>

namespace pymemrun {

struct PathPython {
  std::string file;     // empty: not found, see `problem`
  std::string by;       // how it was found, for messages
  std::string problem;  // a clause for messages; empty: no problem
};

// Returns the first python3 in `path`, a list like $PATH. If that is the script
// of pyenv, returns the version that pyenv selects: `pyenv_version`
// ($PYENV_VERSION), the nearest .python-version from `folder` upwards, or the
// global file of pyenv.
PathPython FindPathPython(const std::string& path, const std::string& folder,
                          const std::string& pyenv_version);

// Returns the first file, folder or link on the way to `path`, itself included,
// that a user other than this one and root owns or may write to; empty: no such
// place. A Python that was found and not named must be safe in this way:
// whoever can change it can run code as this user. Links are followed, and
// their ways are checked, too. Folders like /tmp, where others may only add
// names, are safe. Missing files count: others could create them.
std::string OthersMayChange(const std::string& path);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_PATH_PYTHON_H_
