// What the files of a Python installation tell of it, without running it: a
// python that is asked for its version runs its sitecustomize and .pth files'
// code, outside the trace and before the user's options are obeyed.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_PYTHON_FILES_H_
#define PYMEMRUN_LAUNCHER_PYTHON_PYTHON_FILES_H_

#include <string>
#include <string_view>

namespace pymemrun {

// Without links; empty if there is no such file.
std::string RealPath(const std::string& path);
bool IsRegularFile(const std::string& path);
// One that may be executed.
bool IsProgram(const std::string& path);
// The program `name` in the first folder of `path`, a list as $PATH is, that
// has one; the folder `without` is left out. Empty if none has.
std::string OnPath(const std::string& name, const std::string& path,
                   const std::string& without = "");
// "a" of "a/b", "/" of "/b", "." of "b".
std::string DirectoryOf(const std::string& path);

// The first `count` numbers of a version: two of "3.11.2+" are "3.11". Empty if
// there are fewer.
std::string VersionNumbers(std::string_view text, int count);

// Whether the file at `path` is a program that is or calls CPython's main
// function: whatever is named python3.11 but, say, a shell script is not.
bool IsInterpreter(const std::string& path);

// The version "3.11" of the python at `path`: from its virtual environment's
// pyvenv.cfg, the name that it is a link to, or the library folder beside it.
// Empty if none tells.
std::string PythonVersionOf(const std::string& path);

// The folder of the python that the virtual environment of the python at `path`
// was made with, as its pyvenv.cfg says. Empty without that file.
std::string HomeOf(const std::string& path);

// The folder of the standard library that the python at `path` would use, of
// version `major_minor`, links resolved; looked for as the interpreter does:
// from the `home` that its pyvenv.cfg names, else from where it is itself,
// upwards. Empty if no folder is found.
std::string StandardLibraryOf(const std::string& path,
                              const std::string& major_minor);

// The version "3.11.2" of the installation that has that standard library:
// what its C headers say. Where it has none, what the pyvenv.cfg of `path` said
// when the environment was made. Empty if neither tells.
std::string ExactVersionOf(const std::string& path,
                           const std::string& major_minor);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_PYTHON_FILES_H_
