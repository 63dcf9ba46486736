#include "readers/report/pymemreport.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/options/command_line.h"
#include "readers/options/help_text.h"
#include "readers/output/report_output.h"
#include "readers/report/report_command.h"
#include "readers/run/own_code.h"
#include "text/nearest_name.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// So many begin the first screen; it only names the others.
constexpr size_t kUsualCommands = 12;
// Of a FILE alone.
constexpr absl::string_view kWithoutCommand = "report";

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

using Commands = std::vector<std::unique_ptr<ReportCommand>>;

int PrintToConsole(const Console& console, ReportCommand* command) {
  const std::string what = command->NotForTerminal();
  if (!what.empty() && isatty(console.out_fd) != 0) {
    console.Usage(
        absl::StrCat(what, " are not for a terminal: name one with -o"));
    return kExitUsage;
  }
  OutputBuffer output(console.out,
                      Terminal::Of(console.out_fd, command->files().colors));
  const int code = command->RunEach(console, &output);
  const int finish_code = FinishOutput(console, &output);
  return ReaderHasGone(console) ? kExitOk : std::max(code, finish_code);
}

int PrintToFile(const Console& console, ReportCommand* command) {
  const FileOptions& files = command->files();
  const std::string name = TerminalText(files.output);
  auto file = ReplacedFile::Create(files.output);
  if (!file.ok()) {
    console.Say(absl::StrCat(name, ": ", file.status().message()));
    return kExitUsage;
  }
  for (const std::string& path : files.All()) {
    if (!(*file)->Replaces(path)) continue;
    console.Usage(absl::StrCat("-o ", name, " is one of the files to read"));
    return kExitUsage;
  }
  OutputBuffer output(file->get());
  const int code = command->RunEach(console, &output);
  absl::Status status = output.Flush();
  if (status.ok() && code != kExitOk && (*file)->ReplacesOne()) {
    console.Say(absl::StrCat(name, ": left as it was"));
    return code;
  }
  // With nothing readable there is no report.
  if (status.ok() && (*file)->bytes_written() > 0) status = (*file)->Commit();
  if (status.ok() || (*file)->last_errno() == EPIPE) return code;
  console.Say(absl::StrCat(name, ": ", TerminalText(status.message())));
  return std::max(code, kExitFailed);
}

std::string CommandsHelp(const Commands& commands) {
  std::string text =
      "Answers from run files.\n"
      "Usage: pymemreport FILE\n"
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
  return text + "Others: " + absl::StrJoin(others, ", ") +
         ".\n"
         "\n"
         "pymemreport COMMAND --help tells a command's usual options,\n"
         "pymemreport COMMAND --help-all all of them, and pymemreport "
         "--help-all "
         "all of\n"
         "all commands. --version says which pymemreport this is.\n";
}

std::string AllHelp(const Console& console, const Commands& commands) {
  std::string text = CommandsHelp(commands);
  for (const auto& command : commands) {
    CLI::App app(command->about(),
                 absl::StrCat(console.program, " ", command->name()));
    command->AddOptions(&app);
    absl::StrAppend(&text, "\n", HelpText(app, /*all=*/true));
  }
  return text;
}

void SayUnknownCommand(const std::string& name, const Commands& commands,
                       const Console& console) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command->name());
  const std::string nearest = NearestName(name, names);
  console.Usage(absl::StrCat(
      name.empty() ? "expected a command" : "unknown command '",
      TerminalText(name), name.empty() ? "" : "'",
      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

// As ParseArguments(), with what only the command knows to be wrong.
std::optional<int> Parse(const std::vector<std::string>& arguments,
                         const Console& console, ReportCommand* command) {
  CLI::App app(command->about(),
               absl::StrCat(console.program, " ", command->name()));
  command->AddOptions(&app);
  const std::optional<int> ended =
      ParseArguments(&app, command->Prepared(arguments), console);
  if (ended.has_value()) return ended;
  for (const char* name : {"--csv", "--json", "--collapsed"}) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) command->SetForMachines(true);
  }
  std::string problem = command->Problem();
  if (problem.empty()) problem = command->files().Problem();
  if (problem.empty()) return std::nullopt;
  console.Usage(problem);
  return kExitUsage;
}

// The command that comes behind an option, where that cannot be meant
// otherwise: commands come first. Empty: none does.
std::string CommandBehind(const std::vector<std::string>& arguments,
                          const Console& console) {
  FdSink nowhere(-1);
  const Console silent = {console.program, &nowhere, -1, -1};
  std::string behind;
  for (const auto& command : ReportCommands()) {
    const bool is_there = std::find(arguments.begin(), arguments.end(),
                                    command->name()) != arguments.end();
    if (is_there) behind = command->name();
  }
  const std::unique_ptr<ReportCommand> answer =
      std::move(ReportCommands().front());
  if (Parse(arguments, silent, answer.get()) == kExitUsage) return behind;
  // A file may have a command's name.
  const std::vector<std::string>& paths = answer->files().paths;
  const bool is_path =
      std::find(paths.begin(), paths.end(), behind) != paths.end();
  return is_path && access(behind.c_str(), F_OK) != 0 ? behind : "";
}

int Run(const std::vector<std::string>& arguments, const Console& console,
        ReportCommand* command) {
  const std::optional<int> ended = Parse(arguments, console, command);
  if (ended.has_value()) return *ended;
  command->TakeFolders();
  const FileOptions& files = command->files();
  const std::string of_one = command->OfOneRun();
  if (files.count == 1 && files.paths.size() > 1 && !of_one.empty()) {
    console.Usage(
        absl::StrCat(of_one, " takes one FILE, found ", files.paths.size()));
    return kExitUsage;
  }
  const int code = command->files().ToConsole()
                       ? PrintToConsole(console, command)
                       : PrintToFile(console, command);
  if (code == kExitOk && OwnCode::NoneMatched()) {
    console.Say("--own: no file of the run matches: every line is a library's");
  }
  return code;
}

}  // namespace

int RunPymemreport(const std::vector<std::string>& arguments,
                   const Console& console) {
  const Commands commands = ReportCommands();
  const std::string name = arguments.empty() ? "" : arguments[0];
  const bool asks_help = name == "help" && access("help", F_OK) != 0;
  if (name == "--help" || name == "-h" || asks_help) {
    return PrintText(console, CommandsHelp(commands));
  }
  if (name == "--help-all") {
    return PrintText(console, AllHelp(console, commands));
  }
  if (name == "--version") {
    return PrintText(console, "pymemreport " PYMEMRUN_VERSION "\n");
  }
  const auto named = [&commands](absl::string_view wanted) {
    return std::find_if(
        commands.begin(), commands.end(),
        [wanted](const auto& known) { return known->name() == wanted; });
  };
  auto command = named(name);
  size_t taken = 1;
  if (command == commands.end() && (IsFile(name) || IsOption(name))) {
    command = named(kWithoutCommand);
    taken = 0;
  }
  if (command == commands.end()) {
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
  return Run({arguments.begin() + taken, arguments.end()}, console,
             command->get());
}

}  // namespace pymemrun
