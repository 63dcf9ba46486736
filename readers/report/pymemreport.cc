#include "readers/report/pymemreport.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "readers/options/help_text.h"
#include "readers/report/command_program.h"
#include "readers/report/report_command.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// The number of commands that the first screen describes; it only names the
// others.
constexpr size_t kUsualCommands = 12;
// The FILE of no words at all: what pymemrun writes.
constexpr char kUsualFile[] = "run.pb";

// Whether the first word is an option of the command that needs no name.
bool IsOption(const std::string& name) {
  return name.size() > 1 && name.front() == '-';
}

// Whether the word is meant as a FILE: a name like a path's, or of a file.
bool IsFile(const std::string& name) {
  if (name.empty() || name == "-") return !name.empty();
  return name.find_first_of("./") != std::string::npos ||
         access(name.c_str(), F_OK) == 0;
}

// Words behind a head, in lines that fit 80 columns and stand below each other.
std::string InLines(const std::string& head, const std::string& words) {
  std::string text = head;
  size_t column = head.size();
  for (const absl::string_view word : absl::StrSplit(words, ' ')) {
    if (column + word.size() > 80) {
      text.back() = '\n';
      text.append(head.size(), ' ');
      column = head.size();
    }
    absl::StrAppend(&text, word, " ");
    column += word.size() + 1;
  }
  text.back() = '\n';
  return text;
}

// Usual commands have a line each, the others only their names, so that the
// text fits on a screen.
std::string CommandsHelp(const CommandList& commands) {
  std::string text =
      "Reports on run files, which `pymemrun script.py` writes.\n"
      "Usage: pymemreport [FILE]                        (run.pb)\n"
      "       pymemreport COMMAND FILE... [options]\n"
      "\n"
      "Commands:\n";
  std::vector<std::string> others;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (i < kUsualCommands) {
      text += HelpRow(commands[i]->name(), commands[i]->summary(), 13);
    } else {
      others.push_back(commands[i]->name());
    }
  }
  return text + InLines("Others: ", absl::StrJoin(others, ", ") + ".") +
         "\n"
         "pymemreport COMMAND --help lists a command's usual options, "
         "--help-all all of\n"
         "them. pymemreport --help-all lists those of all commands; --version "
         "prints the\n"
         "version.\n";
}

// The command that comes behind an option, as in `--json heap run.pb`: commands
// come first. Empty: the words make sense as they are. That is tried by parsing
// them for the first command, in silence.
std::string CommandBehind(const std::vector<std::string>& arguments,
                          const Console& console) {
  FdSink nowhere(-1);
  const Console silent = {console.program, &nowhere, -1, -1};
  std::string behind;
  const CommandList commands = ReportCommands();
  for (const std::string& word : arguments) {
    if (CommandNamed(word, commands) != nullptr) behind = word;
  }
  ReportCommand* const answer = commands.front().get();
  if (ParseCommand(arguments, silent, answer) == kExitUsage) {
    return behind;
  }
  // A file may have a command's name.
  const std::vector<std::string>& paths = answer->files().paths;
  const bool is_path =
      std::find(paths.begin(), paths.end(), behind) != paths.end();
  return is_path && access(behind.c_str(), F_OK) != 0 ? behind : "";
}

// Options that mean the same wherever they are, and why a report has none.
struct Shared {
  const char* name;
  const char* why;
};
constexpr Shared kShared[] = {
    {"--thread", "shows the whole process"},
    {"--task", "does not tell tasks apart"},
    {"--file", "lists no places to choose from"},
    {"--exclude", "lists no places to choose from"},
    {"--function", "lists no places to choose from"},
    {"--pid", "reads the files that you name"},
    {"--from", "shows one moment or the whole run"},
    {"--to", "shows one moment or the whole run"},
    {"--at", "does not show a single moment"},
    {"--by", "groups its rows in one way only"},
    {"--sort", "always has the same order"},
    {"--limit", "always prints everything"},
};

// "heap, top and calls": the commands that have it.
// Makes each command's options to find out: only for a message. The group of a
// refused option is empty.
std::string CommandsWith(const std::string& option) {
  std::vector<std::string> names;
  for (const auto& command : ReportCommands()) {
    CLI::App app;
    command->AddOptions(&app);
    const CLI::Option* const found = app.get_option_no_throw(option);
    if (found != nullptr && !found->get_group().empty()) {
      names.push_back(command->name());
    }
  }
  const std::string last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

// An option of other reports says why it is missing here, and who has it.
void RefuseOthers(const std::string& command, CLI::App* app) {
  for (const Shared& shared : kShared) {
    if (app->get_option_no_throw(shared.name) != nullptr) continue;
    app->add_option_function<std::string>(
           shared.name,
           [command, shared](const std::string&) {
             throw CLI::ValidationError(
                 shared.name,
                 absl::StrCat(command, " ", shared.why, "; ",
                              CommandsWith(shared.name), " take it"));
           })
        ->group("");
  }
}

bool AsksHelp(const std::string& name) {
  return name == "--help" || name == "-h" ||
         (name == "help" && access("help", F_OK) != 0);
}

// The words; where there are none, the usual file if it is here.
std::vector<std::string> WithUsualFile(std::vector<std::string> words) {
  if (words.empty() && access(kUsualFile, F_OK) == 0) {
    words.push_back(kUsualFile);
  }
  return words;
}

}  // namespace

// The first word decides: help, version, a command, or else a FILE or an option
// of the first command, which needs no name.
int RunPymemreport(const std::vector<std::string>& words,
                   const Console& console) {
  const auto arguments = WithUsualFile(words);
  const CommandList commands = ReportCommands();
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (AsksHelp(name)) {
    return PrintText(console, CommandsHelp(commands));
  }
  if (name == "--help-all") {
    return PrintText(
        console, CommandsHelp(commands) + AllOptionsHelp(console, commands));
  }
  if (name == "--version") {
    return PrintText(console, "pymemreport " PYMEMRUN_VERSION "\n");
  }
  ReportCommand* command = CommandNamed(name, commands);
  size_t taken = 1;
  // No word is taken for the name then: all belong to the first command.
  if (command == nullptr && (IsFile(name) || IsOption(name))) {
    command = commands.front().get();
    taken = 0;
  }
  if (command == nullptr) {
    SayUnknownCommand(name, commands, console);
    return kExitUsage;
  }
  const std::string behind =
      IsOption(name) ? CommandBehind(arguments, console) : "";
  if (!behind.empty()) {
    console.Usage(absl::StrCat("expected the command ", behind,
                               " first, found '", TerminalText(name), "'"));
    return kExitUsage;
  }
  return RunCommand({arguments.begin() + taken, arguments.end()}, console,
                    command, RefuseOthers);
}

}  // namespace pymemrun
