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

// Groups of hidden options: those implied by a command's name, and those that
// do not go with them.
inline constexpr char kGivenOptions[] = "Given", kUselessOptions[] = "Useless";

// Whether --help-all lists the option.
bool IsShown(const CLI::Option& option);

// Parses `arguments`, without the program's name. Returns an exit code if the
// program must end: after --help, --help-all and --version, or after a usage
// error. For an unknown option the message names the nearest known one.
std::optional<int> ParseArguments(CLI::App* app,
                                  const std::vector<std::string>& arguments,
                                  const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OPTIONS_COMMAND_LINE_H_
