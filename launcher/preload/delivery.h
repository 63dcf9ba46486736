// Ways into an interpreter that is no part of pymemrun, for the tracer.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_

#include <string>
#include <vector>

#include "launcher/options/command_line.h"
#include "launcher/python/python_choice.h"

namespace pymemrun {

// "3.9, 3.10": the versions of CPython that tracers are here for.
std::string TracedVersions();

// Why the Python at `file` cannot be traced by a tracer that is preloaded;
// empty: it can.
std::string WhyNotTraced(const std::string& file);

// Executes the python with its part of the command line. The tracer in it does
// what the rest says. Without `traced`, or where /proc is not mounted, nothing
// is preloaded. Returns only where it cannot be executed, with one line that
// says why.
std::string RunPreloaded(const PythonChoice& choice,
                         const CommandLine& command_line, bool traced);

// Shell commands that set the variables by which each CPython that is started
// from then on is traced, with these options, and each that it starts. False,
// with one line in *error, where that cannot be.
bool ActivationCommands(const CommandLine& command_line, std::string* commands,
                        std::string* error);

// Has each CPython that this process starts traced, as its environment says
// from here on, with run files by the pattern `output`. False, with one line in
// *error, where that cannot be.
bool FollowIntoPrograms(const CommandLine& command_line,
                        const std::string& output, std::string* error);

// A path for what LD_PRELOAD cannot name.

// Where links may lie; the first that can be used is.
std::vector<std::string> LinkPlaces();

// `object` itself, or, where that has a space or a colon, a path of the same
// file that has none: through a link to its folder. The link lies in a folder
// of one of `places` that nobody but this user may write to, and it stays
// there, for the processes that inherit LD_PRELOAD. Empty: no place can be
// used.
std::string PlainPathOf(const std::string& object,
                        const std::vector<std::string>& places);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_
