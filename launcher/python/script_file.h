// What stands in the place of a script on a command line.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_SCRIPT_FILE_H_
#define PYMEMRUN_LAUNCHER_PYTHON_SCRIPT_FILE_H_

#include <string>

namespace pymemrun {

// The interpreter that the script's first line names by its path; empty: none.
std::string InterpreterOf(const std::string& script);

// Whether the word is a Python and no script: the path of an interpreter, or a
// name such as python3.12 that nothing here has which could be run.
bool NamesInterpreter(const std::string& word);

// Whether the word can only be a program's name, as `pytest`: one without a
// slash and .py that no file here has.
bool NamesProgram(const std::string& word);

// The Python program `name` in the folder `bin`, or else on `path`. Empty, with
// one line in *error, if no such program is there.
std::string FindProgram(const std::string& name, const std::string& bin,
                        const std::string& path, std::string* error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_SCRIPT_FILE_H_
