#include "readers/report_options.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "format/nearest_name.h"
#include "format/terminal_text.h"

namespace pymemrun {
namespace {

struct KnownCommand {
  const char* name;
  const char* help;  // null: not built yet
  ReportOptions::Command command;
  uint64_t usual_limit;
  const char* rows;  // of CSV and JSON
};
constexpr KnownCommand kCommands[] = {
    {"summary", "Tells what a run came to.", ReportOptions::Command::kSummary,
     5, ": of each FILE the same named values"},
    {"top",
     "Lists the places where RSS grew.\n"
     "\n"
     "Growth that pymemcat shows at a C function is counted where Python code\n"
     "calls it: at the calling line, and for the Python function it is in.",
     ReportOptions::Command::kTop, 20, ""},
    {"resident", nullptr, {}, 0, nullptr},
    {"timeline", nullptr, {}, 0, nullptr},
    {"heap", nullptr, {}, 0, nullptr},
    {"history", nullptr, {}, 0, nullptr},
    {"snapshot", nullptr, {}, 0, nullptr},
    {"stats", nullptr, {}, 0, nullptr},
    {"flame", nullptr, {}, 0, nullptr},
    {"export", nullptr, {}, 0, nullptr},
};

constexpr char kHelp[] =
    "Answers from run files.\n"
    "Usage: pymemreport COMMAND FILE... [options]\n"
    "\n"
    "Commands:\n"
    "  summary   what a run came to: RSS, VmHWM, losses, CPU, top lines\n"
    "  top       the places where RSS grew\n"
    "\n"
    "pymemreport COMMAND --help tells a command's options; --version says\n"
    "which pymemreport this is.\n";

// The options as they stand on the command line.
struct Words {
  bool csv = false, json = false;
  std::string by = "line";
  std::string limit;
};

void Describe(const KnownCommand& command, CLI::App* app, Words* words,
              ReportOptions* options) {
  app->add_option("FILE", options->files, "run files; - reads standard input")
      ->required()
      ->option_text(" ");
  app->add_flag("--csv", words->csv, absl::StrCat("print CSV", command.rows));
  app->add_flag("--json", words->json,
                absl::StrCat("print JSON", command.rows));
  app->add_option("-o,--output", options->output,
                  "write to PATH, once all is well")
      ->option_text("PATH");
  options->limit = command.usual_limit;
  app->add_option("--limit", words->limit,
                  absl::StrCat("list at most N places (", command.usual_limit,
                               "); 0: all"))
      ->option_text("N");
  if (options->command != ReportOptions::Command::kTop) return;
  app->add_option("--by", words->by,
                  "line (default), function (Python's), file, thread")
      ->option_text("KIND");
}

// What is wrong with the words; empty: nothing.
std::string TakeWords(const Words& words, ReportOptions* options) {
  if (!ParsePlaceKind(words.by, &options->by)) {
    return absl::StrCat(
        "--by: expected line, function, file or thread, found '",
        TerminalText(words.by), "'");
  }
  if (!words.limit.empty() && !absl::SimpleAtoi(words.limit, &options->limit)) {
    return absl::StrCat("--limit: expected a number from 0 on, found '",
                        TerminalText(words.limit), "'");
  }
  if (words.csv && words.json) return "give one of --csv and --json";
  if (words.csv) options->format = TableFormat::kCsv;
  if (words.json) options->format = TableFormat::kJson;
  if (options->output == "-") options->output.clear();
  if (std::count(options->files.begin(), options->files.end(), "-") > 1) {
    return "standard input (-) can be read once only";
  }
  return "";
}

void SayUnknownCommand(const std::string& name, const Console& console) {
  std::vector<std::string> names;
  for (const KnownCommand& known : kCommands) names.push_back(known.name);
  const std::string nearest = NearestName(name, names);
  console.Usage(absl::StrCat(
      name.empty() ? "expected a command" : "unknown command '",
      TerminalText(name), name.empty() ? "" : "'",
      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

std::optional<int> ParseCommand(const KnownCommand& command,
                                const std::vector<std::string>& arguments,
                                const Console& console,
                                ReportOptions* options) {
  CLI::App app(command.help, absl::StrCat(console.program, " ", command.name));
  Words words;
  options->command = command.command;
  Describe(command, &app, &words, options);
  const std::optional<int> ended = ParseArguments(&app, arguments, console);
  if (ended.has_value()) return ended;
  const std::string problem = TakeWords(words, options);
  if (problem.empty()) return std::nullopt;
  console.Usage(problem);
  return kExitUsage;
}

}  // namespace

std::optional<int> ParseReportOptions(const std::vector<std::string>& arguments,
                                      const Console& console,
                                      ReportOptions* options) {
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (name == "--help" || name == "-h") {
    return PrintText(console, kHelp);
  }
  if (name == "--version") {
    return PrintText(console, "pymemreport " PYMEMRUN_VERSION "\n");
  }
  const KnownCommand* command = std::find_if(
      std::begin(kCommands), std::end(kCommands),
      [&name](const KnownCommand& known) { return name == known.name; });
  if (command == std::end(kCommands)) {
    SayUnknownCommand(name, console);
    return kExitUsage;
  }
  if (command->help == nullptr) {
    console.Usage(absl::StrCat("the command '", name, "' is not built yet"));
    return kExitUsage;
  }
  return ParseCommand(*command, {arguments.begin() + 1, arguments.end()},
                      console, options);
}

}  // namespace pymemrun
