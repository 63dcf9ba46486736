// Ways to get the tracer into an interpreter that is not built into pymemrun.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_

#include <string>
#include <vector>

#include "launcher/options/command_line.h"
#include "launcher/python/python_choice.h"

namespace pymemrun {

// Returns the CPython versions with a tracer here, as "3.9, 3.10".
std::string TracedVersions();

// Returns why the Python at `file` cannot be traced by a preloaded tracer;
// empty: it can.
std::string WhyNotTraced(const std::string& file);

// Executes the Python with its part of the command line; the tracer in it
// handles the rest. Without `traced`, or if /proc is not mounted, nothing is
// preloaded. Returns only on failure, with a one-line reason.
std::string RunPreloaded(const PythonChoice& choice,
                         const CommandLine& command_line, bool traced);

// Sets *commands to shell commands that set variables. With them, each CPython
// started later, and each one that it starts, is traced with these options.
// Returns false with one line in *error on failure.
bool ActivationCommands(const CommandLine& command_line, std::string* commands,
                        std::string* error);

// From now on each CPython that this process starts is traced, through the
// environment, into run files named by the pattern `output`. Returns false with
// one line in *error on failure.
bool FollowIntoPrograms(const CommandLine& command_line,
                        const std::string& output, std::string* error);

// Folders for links; the first usable one is taken.
std::vector<std::string> LinkPlaces();

// Returns a path of `object` that LD_PRELOAD can name: itself, or, if it has a
// space or a colon, a path through a link to its folder. The link is in a
// folder, inside one of `places`, that only this user may write to. It stays
// there for processes that inherit LD_PRELOAD. Empty: no place can be used.
std::string PlainPathOf(const std::string& object,
                        const std::vector<std::string>& places);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_
