#include "readers/report/command_program.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "format/stream/byte_io.h"
#include "readers/options/command_line.h"
#include "readers/options/conflicts.h"
#include "readers/options/help_text.h"
#include "readers/options/out_of_memory.h"
#include "readers/output/html_page.h"
#include "readers/output/report_output.h"
#include "readers/run/own_code.h"
#include "text/nearest_name.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kPictures = "pictures";

bool DrawsPicture(const ReportCommand& command) {
  return command.NotForTerminal() == kPictures;
}

// The name of a picture without one: "run.flame.svg" for run.pb, in the current
// folder.
std::string PictureName(const ReportCommand& command) {
  const FileOptions& files = command.files();
  std::string name = files.paths.empty() ? "" : files.paths[0];
  name = name.substr(name.rfind('/') + 1);
  const size_t end = name.rfind('.');
  if (end != std::string::npos && end > 0) name.resize(end);
  return absl::StrCat(name.empty() || name == "-" ? "run" : name, ".",
                      command.name(), ".svg");
}

// A reader that has gone, as `head`, is no failure.
int PrintToConsole(const Console& console, ReportCommand* command) {
  const std::string what = command->NotForTerminal();
  if (!what.empty() && isatty(console.out_fd) != 0) {
    console.Usage(absl::StrCat(
        what, " cannot be shown on a terminal: name a file with -o"));
    return kExitUsage;
  }
  OutputBuffer output(console.out,
                      Terminal::Of(console.out_fd, command->files().colors));
  const int code = command->RunEach(console, &output);
  const int finish_code = FinishOutput(console, &output);
  return ReaderHasGone(console) ? kExitOk : std::max(code, finish_code);
}

// A plain file is written under another name, and renamed at the end. So one
// that exists is replaced by a whole report or not at all.
int PrintToFile(const Console& console, bool says_name,
                ReportCommand* command) {
  const FileOptions& files = command->files();
  const std::string name = TerminalText(files.output);
  const bool draws = DrawsPicture(*command);
  // Pictures are made to be shown to others.
  auto file = ReplacedFile::Create(files.output, draws ? 0666 : 0600);
  if (!file.ok()) {
    console.Say(absl::StrCat(name, ": ", file.status().message()));
    return kExitUsage;
  }
  for (const std::string& path : command->FilesToRead()) {
    if (!(*file)->Replaces(path)) continue;
    console.Usage(absl::StrCat("-o ", name, " is also a file to read"));
    return kExitUsage;
  }
  HtmlPageSink page(absl::StrCat(console.program, " ", command->name()),
                    file->get());
  const bool is_page = draws && IsHtmlName(files.output);
  OutputBuffer output(is_page ? static_cast<ByteSink*>(&page) : file->get());
  const int code = command->RunEach(console, &output);
  absl::Status status = output.Flush();
  if (status.ok() && is_page) status = page.End();
  if (status.ok() && code != kExitOk && (*file)->ReplacesOne()) {
    console.Say(absl::StrCat(name, ": left unchanged"));
    return code;
  }
  // With nothing readable there is no report.
  if (status.ok() && (*file)->bytes_written() > 0) status = (*file)->Commit();
  if (status.ok() && says_name && (*file)->bytes_written() > 0) {
    console.Say(absl::StrCat("wrote ", name));
  }
  if (status.ok() || (*file)->last_errno() == EPIPE) return code;
  console.Say(absl::StrCat(name, ": ", TerminalText(status.message())));
  return std::max(code, kExitFailed);
}

// The words that an old name stands for are given with it: neither they nor
// what does not go with them is in its help. CLI11 takes words in reverse
// order.
void HideWhatIsGiven(const std::vector<std::string>& words, CLI::App* app) {
  if (words.empty()) return;
  try {
    app->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError&) {
    // FILE is missing. What excludes what is known by now.
  }
  const auto all = app->get_options([](const CLI::Option*) { return true; });
  // Twice: some need what is found to be useless.
  for (int i = 0; i < 2; ++i) {
    for (CLI::Option* option : all) {
      if (!GoesWithGiven(app, *option)) option->group(kUselessOptions);
      if (option->count() > 0) option->group(kGivenOptions);
    }
  }
}

}  // namespace

// A program may be started without its name: argc is then 0.
int ProgramMain(const char* name, int argc, char** argv, Program* run) {
  EndPlainlyWithoutMemory(name);
  signal(SIGPIPE, SIG_IGN);  // a reader that has gone is seen as EPIPE
  signal(SIGXFSZ, SIG_IGN);  // and a limit on the size of files as EFBIG
  FdSink out(STDOUT_FILENO);
  const Console console = {name, &out};
  return run(std::vector<std::string>(argv + (argc > 0), argv + argc), console);
}

// docs/make_cli and a test read this output.
std::string AllOptionsHelp(const Console& console,
                           const CommandList& commands) {
  std::string text;
  for (const auto& command : commands) {
    const auto app = command->MakeParser(console.program);
    absl::StrAppend(&text, "\n", HelpText(app.get(), /*all=*/true));
  }
  absl::StrAppend(&text, "\nOld names:\n");
  for (const auto& command : commands) {
    for (const OldName& old : command->OldNames()) {
      absl::StrAppend(
          &text,
          HelpRow(old.name,
                  absl::StrCat(command->name(), old.words.empty() ? "" : " ",
                               absl::StrJoin(old.words, " ")),
                  /*name_width=*/13));
    }
  }
  return text;
}

ReportCommand* CommandNamed(const std::string& name,
                            const CommandList& commands) {
  const auto found = std::find_if(
      commands.begin(), commands.end(),
      [&name](const auto& command) { return command->GoesBy(name); });
  return found == commands.end() ? nullptr : found->get();
}

void SayUnknownCommand(const std::string& name, const CommandList& commands,
                       const Console& console) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command->name());
  const std::string nearest = NearestName(name, names);
  console.Usage(absl::StrCat(
      name.empty() ? "expected a command" : "unknown command '",
      TerminalText(name), name.empty() ? "" : "'",
      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

// The parser's own checks first, then what the command says of its options
// together. Files are not opened yet.
std::optional<int> ParseCommand(const std::vector<std::string>& arguments,
                                const Console& console, ReportCommand* command,
                                AddRefused* refused) {
  const auto app = command->MakeParser(console.program);
  if (refused != nullptr) refused(command->name(), app.get());
  std::vector<std::string> words = command->words();
  HideWhatIsGiven(words, app.get());
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::optional<int> ended =
      ParseArguments(app.get(), command->Prepared(std::move(words)), console);
  if (ended.has_value()) return ended;
  // Without text there is no heading for each of several files.
  for (const char* name : {"--csv", "--json", "--collapsed"}) {
    const CLI::Option* const option = app->get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) command->SetForMachines(true);
  }
  command->TakeNeeds(*app);
  std::string problem = command->Problem();
  if (problem.empty()) problem = command->files().Problem();
  const std::string& output = command->files().output;
  if (problem.empty() && DrawsPicture(*command) && IsOtherPictureName(output)) {
    problem = absl::StrCat(
        "-o: expected a name that ends in .svg or .html, "
        "found ",
        TerminalText(output));
  }
  if (problem.empty()) return std::nullopt;
  console.Usage(problem);
  return kExitUsage;
}

// Folders become files before problems are sought again, as their number is
// known only now. A picture without a name gets one on a terminal.
int RunCommand(const std::vector<std::string>& arguments,
               const Console& console, ReportCommand* command,
               AddRefused* refused) {
  const std::optional<int> ended =
      ParseCommand(arguments, console, command, refused);
  if (ended.has_value()) return *ended;
  command->TakeFolders();
  const FileOptions& files = command->files();
  std::string problem = files.Problem();
  if (problem.empty()) problem = command->KeepProcess();
  if (!problem.empty()) {
    console.Usage(problem);
    return kExitUsage;
  }
  const std::string of_one = command->OfOneRun();
  if (files.count == 1 && files.paths.size() > 1 && !of_one.empty()) {
    console.Usage(
        absl::StrCat(of_one, " takes one FILE, found ", files.paths.size()));
    return kExitUsage;
  }
  // Sent elsewhere than to a terminal, a picture is the output.
  const bool needs_name = files.output.empty() && DrawsPicture(*command) &&
                          isatty(console.out_fd) != 0;
  if (needs_name) command->SetOutput(PictureName(*command));
  const int code = files.ToConsole()
                       ? PrintToConsole(console, command)
                       : PrintToFile(console, needs_name, command);
  // Known only after all files were read: patterns are tried on each file name.
  if (code == kExitOk && OwnCode::NoneMatched()) {
    console.Say(
        "--own: no file of the run matches: all lines count as library code");
  }
  return code;
}

}  // namespace pymemrun
