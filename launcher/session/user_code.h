// Whether a command line runs any code of the user.
#ifndef PYMEMRUN_LAUNCHER_SESSION_USER_CODE_H_
#define PYMEMRUN_LAUNCHER_SESSION_USER_CODE_H_

#include "launcher/options/command_line.h"

namespace pymemrun {

// False for `-h` and `-V`, and for a script that cannot be read or a folder
// without __main__: Python only prints a message, and no run file is made.
bool HasUserCode(const CommandLine& command_line);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_USER_CODE_H_
