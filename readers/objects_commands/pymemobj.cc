#include "readers/objects_commands/pymemobj.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/options/help_text.h"
#include "readers/report/command_program.h"

namespace pymemrun {
namespace {

std::string CommandsHelp(const CommandList& commands) {
  std::string text =
      "Says what is in a dump of the object graph, and what keeps it alive.\n"
      "Usage: pymemobj FILE\n"
      "       pymemobj FILE COMMAND [options]\n"
      "       pymemobj OLD diff NEW [options]\n"
      "\n"
      "Commands:\n";
  for (const auto& command : commands) {
    text += HelpRow(command->name(), command->summary(), 14);
  }
  return text +
         "\n"
         "pymemobj COMMAND --help tells a command's options, pymemobj "
         "--help-all all of\n"
         "all commands. --version says which pymemobj this is.\n";
}

bool IsOption(const std::string& word) {
  return word.size() > 1 && word.front() == '-';
}

}  // namespace

int RunPymemobj(const std::vector<std::string>& arguments,
                const Console& console) {
  const CommandList commands = ObjectsCommands();
  const std::string first = arguments.empty() ? "" : arguments[0];
  const std::string second = arguments.size() < 2 ? "" : arguments[1];
  if (first == "--help" || first == "-h" || first == "help") {
    return PrintText(console, CommandsHelp(commands));
  }
  if (first == "--help-all") {
    return PrintText(
        console, CommandsHelp(commands) + AllOptionsHelp(console, commands));
  }
  if (first == "--version") {
    return PrintText(console, "pymemobj " PYMEMRUN_VERSION "\n");
  }
  const auto named = [&commands](const std::string& wanted) {
    return std::find_if(
        commands.begin(), commands.end(),
        [&wanted](const auto& known) { return known->name() == wanted; });
  };
  std::vector<std::string> rest(arguments.begin(), arguments.end());
  // The command may come first, too: FILE is then behind it.
  size_t at = named(second) != commands.end() ? 1 : 0;
  auto command = named(at == 1 ? second : first);
  if (command == commands.end()) {
    const bool has_command = !second.empty() && !IsOption(second);
    if (first.empty() || IsOption(first) || has_command) {
      SayUnknownCommand(has_command ? second : "", commands, console);
      return kExitUsage;
    }
    command = commands.begin();  // of a FILE alone
  } else {
    rest.erase(rest.begin() + at);
  }
  return RunCommand(rest, console, command->get());
}

}  // namespace pymemrun
