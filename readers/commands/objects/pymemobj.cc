#include "readers/commands/objects/pymemobj.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "readers/commands/objects/objects_command.h"
#include "readers/options/help_text.h"
#include "readers/report/command_program.h"

namespace pymemrun {
namespace {

std::string CommandsHelp(const CommandList& commands) {
  std::string text =
      "Shows what is in a dump of the object graph, and what keeps it alive.\n"
      "Usage: pymemobj FILE\n"
      "       pymemobj FILE... COMMAND [options]\n"
      "       pymemobj OLD diff NEW [options]\n"
      "\n"
      "Commands:\n";
  for (const auto& command : commands) {
    text += HelpRow(command->name(), command->summary(), 14);
  }
  return text +
         "\n"
         "pymemobj COMMAND --help lists a command's options, pymemobj "
         "--help-all those of\n"
         "all commands. --version prints the version.\n";
}

bool IsOption(const std::string& word) {
  return word.size() > 1 && word.front() == '-';
}

// Where the command's name is: after one FILE or several ("run.*.obj.pb"), or
// before them. If the first two words are commands' names, the first is a dump
// of such a name. `words.size()`: there is no command.
size_t CommandAt(const std::vector<std::string>& words,
                 const CommandList& commands) {
  for (size_t at = 1; at < words.size() && !IsOption(words[at]); ++at) {
    if (CommandNamed(words[at], commands) != nullptr) return at;
    if (at == 1 && CommandNamed(words[0], commands) != nullptr) return 0;
  }
  const bool is_first =
      !words.empty() && CommandNamed(words[0], commands) != nullptr;
  return is_first ? 0 : words.size();
}

}  // namespace

// The command's name is taken out of the words, so that its parser sees FILE
// first wherever the name was.
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
  std::vector<std::string> rest(arguments.begin(), arguments.end());
  const size_t at = CommandAt(rest, commands);
  ReportCommand* command = commands.front().get();  // of a FILE alone
  if (at < rest.size()) {
    command = CommandNamed(rest[at], commands);
    command->SetFilesBefore(std::max<size_t>(at, 1));
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    // A second word that no command has as its name was meant as one.
    const bool has_command = !second.empty() && !IsOption(second);
    if (first.empty() || IsOption(first) || has_command) {
      SayUnknownCommand(has_command ? second : "", commands, console);
      return kExitUsage;
    }
  }
  return RunCommand(rest, console, command);
}

}  // namespace pymemrun
