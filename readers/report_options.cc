#include "readers/report_options.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "format/nearest_name.h"
#include "format/terminal_text.h"
#include "readers/heap_words.h"
#include "readers/option_values.h"

namespace pymemrun {
namespace {

struct KnownCommand {
  const char* name;
  const char* help;
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
    {"resident",
     "Lists who made the pages that are resident at a moment: bytes stand at\n"
     "the place where a page was first touched. Of a run with page events.\n"
     "\n"
     "All rows add up to RSS. `unattributed` is what statm says beyond what "
     "is\n"
     "known of pages; it may be below 0.",
     ReportOptions::Command::kResident, 20, ""},
    {"timeline",
     "Draws RSS over time, stacked by the places that held most of it.\n"
     "Of a run with page events; --by heap: with heap events.",
     ReportOptions::Command::kTimeline, 0, ""},
    {"heap",
     "Lists what is alive on the heap at a moment, and who allocated it. Of a "
     "run\nwith heap events.\n"
     "\n"
     "Where allocations were sampled the numbers are estimates; one standard "
     "error\nstands beside them.",
     ReportOptions::Command::kHeap, 20, ""},
    {"history",
     "Tells the live bytes over time, by the places that held most of them. Of "
     "a\nrun with heap events.",
     ReportOptions::Command::kHistory, 0, ": a row for each moment"},
    {"snapshot",
     "Lists what is alive at a moment by call stack. Of a run with heap "
     "events.",
     ReportOptions::Command::kSnapshot, 0, ""},
    {"stats",
     "Counts allocations by size, and suggests rates to sample them at. Of a "
     "run\nwith heap events.",
     ReportOptions::Command::kStats, 0, ": a row for each range of sizes"},
    {"flame",
     "Draws what is alive at a moment as a flame graph: an SVG to click and to "
     "search\nin. Of a run with heap events.",
     ReportOptions::Command::kFlame, 0, ""},
    {"export",
     "Writes what is alive at a moment, and what was allocated, for other "
     "tools. Of a\nrun with heap events.",
     ReportOptions::Command::kExport, 0, ""},
};

constexpr uint64_t kMostTop = 24;  // series that can be told apart

constexpr char kHelp[] =
    "Answers from run files.\n"
    "Usage: pymemreport COMMAND FILE... [options]\n"
    "\n"
    "Commands:\n"
    "  summary   what a run came to: RSS, VmHWM, losses, CPU, top lines\n"
    "  top       the places where RSS grew\n"
    "  resident  who made the pages that are resident at a moment\n"
    "  timeline  RSS over time by place, as a picture or CSV\n"
    "  heap      live bytes at a moment and who allocated them; leaks, diffs\n"
    "  history   live bytes over time by place\n"
    "  snapshot  live bytes at a moment by call stack\n"
    "  stats     allocations by size\n"
    "  flame     live bytes at a moment as a flame graph\n"
    "  export    live bytes at a moment for pprof, speedscope and others\n"
    "\n"
    "pymemreport COMMAND --help tells a command's options; --version says\n"
    "which pymemreport this is.\n";

// The options as they stand on the command line.
struct Words {
  bool csv = false, json = false;
  std::string by = "line";
  std::string limit;
  std::string at = "peak", owner = "touch", format = "svg", top = "8";
  HeapWords heap;
};

bool HasTables(ReportOptions::Command command) {
  return command != ReportOptions::Command::kTimeline &&
         command != ReportOptions::Command::kFlame &&
         command != ReportOptions::Command::kExport;
}

// What it prints is not a list of places.
bool HasNoLimit(ReportOptions::Command command) {
  return command == ReportOptions::Command::kHistory ||
         command == ReportOptions::Command::kStats;
}

// It is --top of these; --limit is known, so that it can be said.
bool HasTop(ReportOptions::Command command) {
  return command == ReportOptions::Command::kHistory ||
         command == ReportOptions::Command::kTimeline;
}

void DescribeTables(const KnownCommand& command, CLI::App* app, Words* words,
                    ReportOptions* options) {
  app->add_flag("--csv", words->csv, absl::StrCat("print CSV", command.rows));
  app->add_flag("--json", words->json,
                absl::StrCat("print JSON", command.rows));
  if (HasNoLimit(command.command)) return;
  options->limit = command.usual_limit;
  app->add_option(
         "--limit", words->limit,
         absl::StrCat("list at most N places (", command.usual_limit,
                      command.usual_limit == 0 ? ": all)" : "); 0: all"))
      ->option_text("N");
}

void DescribeResident(CLI::App* app, Words* words, ReportOptions* options) {
  app->add_option(
         "--at", words->at,
         "the moment: peak (default; the highest RSS), end, or seconds")
      ->option_text("T");
  app->add_option("--by", words->by,
                  "line (default), function (Python's), file, thread, mapping "
                  "(what the page is part of), module (the file whose "
                  "instruction touched it)")
      ->option_text("KIND");
  app->add_option("--owner", words->owner,
                  "who owns a page: touch (default), who touched it first; "
                  "heap, by the blocks in it")
      ->option_text("KIND");
  DescribeCallTrees(app, options);
}

void DescribeTimeline(CLI::App* app, Words* words) {
  app->add_option("--format", words->format, "svg (default) or csv")
      ->option_text("FORMAT");
  app->add_option("--by", words->by,
                  "line (default), function (Python's), file, thread; heap: "
                  "live bytes of "
                  "Python and of C code, and the rest of RSS")
      ->option_text("KIND");
  app->add_option("--top", words->top,
                  "stack the N places with the highest peaks (8)")
      ->option_text("N");
}

void Describe(const KnownCommand& command, CLI::App* app, Words* words,
              ReportOptions* options) {
  const bool one = command.command == ReportOptions::Command::kResident ||
                   command.command == ReportOptions::Command::kTimeline ||
                   IsHeapCommand(command.command);
  app->add_option("FILE", options->files,
                  one ? "a run file; - reads standard input"
                      : "run files; - reads standard input")
      ->required()
      ->option_text(" ");
  if (HasTables(command.command)) {
    DescribeTables(command, app, words, options);
  }
  if (HasTop(command.command)) {
    app->add_option("--limit", words->limit)->group("");  // not in --help
  }
  app->add_option(
         "-o,--output", options->output,
         "write to PATH; a file that is there is replaced if all went well")
      ->option_text("PATH");
  switch (options->command) {
    case ReportOptions::Command::kResident:
      return DescribeResident(app, words, options);
    case ReportOptions::Command::kTimeline:
      return DescribeTimeline(app, words);
    case ReportOptions::Command::kTop:
      app->add_option("--by", words->by,
                      "line (default), function (Python's), file, thread")
          ->option_text("KIND");
      return;
    case ReportOptions::Command::kSummary:
      return;
    default:
      return DescribeHeapCommand(app, &words->heap, options);
  }
}

// What --stacks and --collapsed do not go with; empty: nothing.
std::string ForbiddenStacks(const ReportOptions& options) {
  if (!options.stacks && !options.collapsed) return "";
  if (options.stacks && options.collapsed) {
    return "give one of --stacks and --collapsed";
  }
  if (options.resident_by == ResidentBy::kMapping) {
    return "--by mapping has no stacks";
  }
  return "";
}

std::string TakeBy(const Words& words, ReportOptions* options) {
  const bool timeline = options->command == ReportOptions::Command::kTimeline;
  options->by_heap = timeline && words.by == "heap";
  if ((!options->by_heap &&
       !ParseResidentBy(words.by, &options->resident_by)) ||
      (timeline && options->resident_by > ResidentBy::kThread)) {
    return absl::StrCat(
        "--by: expected line, function, file",
        timeline ? ", thread or heap" : ", thread, mapping or module",
        ", found '", TerminalText(words.by), "'");
  }
  return "";
}

// As TakeWords(); these are of runs with page events.
std::string TakePageWords(const Words& words, ReportOptions* options) {
  if (options->files.size() > 1) return "takes one FILE";
  const std::string problem = TakeBy(words, options);
  if (!problem.empty()) return problem;
  options->at_peak = words.at == "peak";
  options->at_us = ResidentReplay::kEnd;
  if (!options->at_peak && words.at != "end") {
    const auto at_us = ParseSeconds(words.at);
    if (!at_us.ok()) {
      return absl::StrCat("--at: expected peak, end or seconds, found '",
                          TerminalText(words.at), "'");
    }
    options->at_us = *at_us;
  }
  options->owner_heap = words.owner == "heap";
  if (options->owner_heap && options->resident_by == ResidentBy::kMapping) {
    return "--owner heap has no mappings";
  }
  if (!options->owner_heap && words.owner != "touch") {
    return absl::StrCat("--owner: expected touch or heap, found '",
                        TerminalText(words.owner), "'");
  }
  options->as_svg = words.format == "svg";
  if (!options->as_svg && words.format != "csv") {
    return absl::StrCat("--format: expected svg or csv, found '",
                        TerminalText(words.format), "'");
  }
  if (!absl::SimpleAtoi(words.top, &options->top) || options->top == 0 ||
      options->top > kMostTop) {
    return absl::StrCat("--top: expected a number from 1 to ", kMostTop,
                        ", found '", TerminalText(words.top), "'");
  }
  return ForbiddenStacks(*options);
}

// What is wrong with the words; empty: nothing.
std::string TakeWords(const Words& words, ReportOptions* options) {
  if (HasTop(options->command) && !words.limit.empty()) {
    return "--limit: here --top N says how many places there are";
  }
  if (!words.limit.empty() && !absl::SimpleAtoi(words.limit, &options->limit)) {
    return absl::StrCat("--limit: expected a number from 0 on, found '",
                        TerminalText(words.limit), "'");
  }
  if (words.csv && words.json) return "give one of --csv and --json";
  if (words.csv) options->format = TableFormat::kCsv;
  if (words.json) options->format = TableFormat::kJson;
  if (options->collapsed && (words.csv || words.json || !words.limit.empty())) {
    return "--collapsed prints all stacks, as lines: it takes no --csv, --json "
           "or --limit";
  }
  if (options->command == ReportOptions::Command::kResident ||
      options->command == ReportOptions::Command::kTimeline) {
    const std::string problem = TakePageWords(words, options);
    if (!problem.empty()) return problem;
  } else if (IsHeapCommand(options->command)) {
    const std::string problem = TakeHeapWords(words.heap, options);
    if (!problem.empty()) return problem;
  } else if (!ParsePlaceKind(words.by, &options->by)) {
    return absl::StrCat(
        "--by: expected line, function, file or thread, found '",
        TerminalText(words.by), "'");
  }
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
  const std::optional<int> ended =
      ParseArguments(&app, WithTemporaryNumber(arguments), console);
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
  return ParseCommand(*command, {arguments.begin() + 1, arguments.end()},
                      console, options);
}

}  // namespace pymemrun
