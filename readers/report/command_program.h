// What programs of several commands have in common: pymemreport, pymemobj.
#ifndef PYMEMRUN_READERS_REPORT_COMMAND_PROGRAM_H_
#define PYMEMRUN_READERS_REPORT_COMMAND_PROGRAM_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "readers/report/program_main.h"
#include "readers/report/report_command.h"
#include "readers/run/console.h"

namespace pymemrun {

using CommandList = std::vector<std::unique_ptr<ReportCommand>>;

// What --help-all of each command prints, one behind the other, each after an
// empty line; and their old names.
std::string AllOptionsHelp(const Console& console, const CommandList& commands);

// Null: no command goes by that name, an old one neither.
ReportCommand* CommandNamed(const std::string& name,
                            const CommandList& commands);

// Says that there is no such command, and which was meant.
void SayUnknownCommand(const std::string& name, const CommandList& commands,
                       const Console& console);

// Adds options that a command does not have, but others do: each is refused by
// a sentence.
using AddRefused = void(const std::string& command, CLI::App* app);

// As ParseArguments(), with what only the command knows to be wrong.
std::optional<int> ParseCommand(const std::vector<std::string>& arguments,
                                const Console& console, ReportCommand* command,
                                AddRefused* refused = nullptr);

// Parses the arguments behind the command's name, runs it, and prints to where
// its options say; returns the exit code.
int RunCommand(const std::vector<std::string>& arguments,
               const Console& console, ReportCommand* command,
               AddRefused* refused = nullptr);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_COMMAND_PROGRAM_H_
