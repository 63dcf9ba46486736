// Places of the installed or built files of pymemrun.
#ifndef PYMEMRUN_LAUNCHER_SESSION_OWN_FILES_H_
#define PYMEMRUN_LAUNCHER_SESSION_OWN_FILES_H_

#include <initializer_list>
#include <string>

namespace pymemrun {

// Returns the file with this code: the executable, or a shared object in
// another one. Empty if the system does not tell.
std::string OwnPath();

// Returns the first of these places with a file `name` that is executable, or a
// readable shared object. Places are folders relative to that of OwnPath(),
// with a slash at the end. Empty: not found.
std::string FindOwn(const char* name,
                    std::initializer_list<const char*> places);

// Returns the folder of the Python package `pymemrun`, without a slash at the
// end. An installed one may belong to any Python. Empty: not found.
std::string FindPackage();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_OWN_FILES_H_
