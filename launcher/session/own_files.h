// Where pymemrun is installed, or built.
#ifndef PYMEMRUN_LAUNCHER_SESSION_OWN_FILES_H_
#define PYMEMRUN_LAUNCHER_SESSION_OWN_FILES_H_

#include <initializer_list>
#include <string>

namespace pymemrun {

// The file that this code is part of: the running executable, or a shared object
// in another one. Empty if the system does not tell.
std::string OwnPath();

// The first of these places that has a file of that name, which may be executed,
// or is a shared object that may be read. Places are folders with a slash at the
// end, seen from that of OwnPath(). Empty: none has it.
std::string FindOwn(const char* name,
                    std::initializer_list<const char*> places);

// The folder of the Python package `pymemrun`, without a slash at the end. Of an
// installed one it may be any Python's. Empty: it is not there.
std::string FindPackage();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_OWN_FILES_H_
