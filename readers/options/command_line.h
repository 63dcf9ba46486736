// Command lines of the readers' mains: CLI11's parsing with our messages and
// exit codes.
#ifndef PYMEMRUN_READERS_OPTIONS_COMMAND_LINE_H_
#define PYMEMRUN_READERS_OPTIONS_COMMAND_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "readers/run/console.h"

namespace pymemrun {

// The groups of the options that a command's name stands for, and of those that
// do not go with them: no help has them.
inline constexpr char kGivenOptions[] = "Given", kUselessOptions[] = "Useless";

// Whether --help-all has it.
bool IsShown(const CLI::Option& option);

// Parses `arguments` (without the program's name). Returns the exit code with
// which to end at once: after --help, --help-all and --version, or after a
// usage error, which has been said; an unknown option with the nearest known
// one.
std::optional<int> ParseArguments(CLI::App* app,
                                  const std::vector<std::string>& arguments,
                                  const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OPTIONS_COMMAND_LINE_H_
