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

// Which files other users may change. A Python that is found, not named, must
// be one's own: whoever can change it runs code as whoever runs it.

// The first file, folder or link on the way to `path`, itself included, that a
// user other than this one and root owns or may write to. Links are followed,
// and their own ways are looked at too. A folder such as /tmp, where others may
// add names and change none, is no such place. Otherwise empty. What is
// missing counts: others could make it.
std::string OthersMayChange(const std::string& path);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_PATH_PYTHON_H_
