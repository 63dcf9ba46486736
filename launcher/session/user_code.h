// Whether a command line has anything to trace.
#ifndef PYMEMRUN_LAUNCHER_SESSION_USER_CODE_H_
#define PYMEMRUN_LAUNCHER_SESSION_USER_CODE_H_

#include "launcher/options/command_line.h"

namespace pymemrun {

// Whether there is user code to run at all. Not so for `-h` and `-V`, and for a
// script that cannot be read or a folder without __main__: there python's own
// message is all that will come, and no run file is made.
bool HasUserCode(const CommandLine& command_line);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_USER_CODE_H_
