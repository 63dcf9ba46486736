// The variables by which each CPython that a process starts is traced.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/command_line.h"

namespace pymemrun {

// Our part of the command line, without what is for the launcher alone.
std::vector<std::string> WordsFor(const CommandLine& command_line);

// LD_PRELOAD with `object`. The user's own stay. A sanitizer's insists on being
// the first.
std::string PreloadsWith(const std::string& object, std::string_view users);

// What all CPythons of a family are told: these options. Several processes
// write, to `output` unless the options say it, and none of them is asked for a
// report.
std::string HandoverForMany(const CommandLine& command_line,
                            const std::string& output);

// Sets both variables in this process's environment. `shim`: the object that
// finds out which CPython it is in. Run files go to `output`.
void TraceStartedPrograms(const std::string& shim,
                          const CommandLine& command_line,
                          const std::string& output);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_
