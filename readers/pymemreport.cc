#include "readers/pymemreport.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/terminal_text.h"
#include "readers/option_values.h"
#include "readers/run_facts.h"

namespace pymemrun {
namespace {

constexpr uint64_t kUsualLimit = 20;
constexpr uint64_t kSummaryPlaces = 5;
constexpr absl::string_view kTracingItself = "tracing itself";

struct ReportOptions {
  std::vector<std::string> files;
  std::string by = "line";
  uint64_t limit = kUsualLimit;
  bool csv = false, json = false;
  std::string output;

  TableFormat format() const {
    return csv    ? TableFormat::kCsv
           : json ? TableFormat::kJson
                  : TableFormat::kText;
  }
};

struct Command {
  const char* name;
  const char* help;  // null: not built yet
};
constexpr Command kCommands[] = {
    {"summary", "Tells what a run came to."},
    {"top", "Lists the places where RSS grew."},
    {"resident", nullptr},
    {"timeline", nullptr},
    {"heap", nullptr},
    {"history", nullptr},
    {"snapshot", nullptr},
    {"stats", nullptr},
    {"flame", nullptr},
    {"export", nullptr},
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

// What contradicts itself: the exit code, once said.
std::optional<int> CheckReport(const ReportOptions& options,
                               const Console& console) {
  PlaceKind kind;
  if (!ParsePlaceKind(options.by, &kind)) {
    console.Usage(
        absl::StrCat("--by: expected line, function, file or thread, "
                     "found '",
                     TerminalText(options.by), "'"));
    return kExitUsage;
  }
  if (!options.csv || !options.json) return std::nullopt;
  console.Usage("give one of --csv and --json");
  return kExitUsage;
}

std::optional<int> ParseReport(const Command& command,
                               const std::vector<std::string>& arguments,
                               const Console& console, ReportOptions* options) {
  CLI::App app(command.help, absl::StrCat(console.program, " ", command.name));
  app.add_option("FILE", options->files, "run files; - reads standard input")
      ->required()
      ->option_text(" ");
  app.add_flag("--csv", options->csv, "print CSV");
  app.add_flag("--json", options->json, "print JSON");
  app.add_option("-o,--output", options->output, "write to PATH, not stdout")
      ->option_text("PATH");
  if (absl::string_view(command.name) == "top") {
    app.add_option("--by", options->by,
                   "line (default), function, file, thread")
        ->option_text("KIND");
    app.add_option("--limit", options->limit, "places at most (20); 0: all")
        ->option_text("N")
        ->check(CLI::NonNegativeNumber);
  }
  const std::optional<int> ended = ParseArguments(&app, arguments, console);
  if (ended.has_value()) return ended;
  return CheckReport(*options, console);
}

// Remembers what a run says, and its damage.
class FactsReader final : public RunFacts {
 public:
  explicit FactsReader(DamageTeller* teller) : teller_(teller) {}
  void OnDamage(const StreamReader::Damage& damage) override {
    teller_->Say(damage);
  }

 private:
  DamageTeller* const teller_;
};

// Reads `path` wholly into *facts. Returns the exit code; *readable tells
// whether there is anything in *facts.
int ReadFacts(const std::string& path, const Console& console,
              std::unique_ptr<RunFacts>* facts, bool* readable) {
  *readable = false;
  auto file = InputFile::Open(path);
  if (!file.ok()) {
    console.Say(
        absl::StrCat(TerminalText(path), ": ", file.status().message()));
    return kExitFailed;
  }
  DamageTeller teller(&console, (*file)->shown_name());
  auto reader = std::make_unique<FactsReader>(&teller);
  FdSource source((*file)->fd());
  ReadResult result;
  const absl::Status status =
      ReadStream(&source, StreamReader::Options(), reader.get(), &result);
  *readable = status.ok() || result.has_header;
  *facts = std::move(reader);
  return SayResult(console, (*file)->shown_name(), status, result);
}

int PrintTop(const ReportOptions& options, const Console& console,
             OutputBuffer* output) {
  PlaceKind kind = PlaceKind::kLine;
  ParsePlaceKind(options.by, &kind);
  ProfileTable profile(kind);
  uint64_t own_bytes = 0;
  int code = kExitOk;
  bool any_readable = false;
  for (const std::string& path : options.files) {
    std::unique_ptr<RunFacts> facts;
    bool readable;
    code = std::max(code, ReadFacts(path, console, &facts, &readable));
    if (!readable) continue;
    any_readable = true;
    profile.Add(facts->profile(), facts->index());
    own_bytes += facts->TracingBytes();
  }
  if (any_readable) {
    PrintTable(TopTable(profile, options.limit, own_bytes), options.format(),
               output);
  }
  return code;
}

void PrintSummaryText(const RunFacts& facts, OutputBuffer* output) {
  constexpr size_t kLabelWidth = 16;
  for (const auto& [label, value] : DescribeRun(facts)) {
    output->Append(absl::StrCat(
        label, std::string(kLabelWidth - label.size(), ' '), value, "\n"));
  }
  ProfileTable profile(PlaceKind::kLine);
  profile.Add(facts.profile(), facts.index());
  output->Append("\nlines with the most growth of RSS\n");
  PrintTable(TopTable(profile, kSummaryPlaces, facts.TracingBytes()),
             TableFormat::kText, output);
}

// The facts as a table: of CSV the rows are the facts, of JSON there is one
// object a file.
Table SummaryTable(const RunFacts& facts, TableFormat format) {
  Table table;
  const auto described = DescribeRun(facts);
  if (format == TableFormat::kCsv) {
    table.headings = {{"fact", "fact"}, {"value", "value"}};
    for (const auto& [label, value] : described) {
      table.rows.push_back({label, value});
    }
    return table;
  }
  table.rows.emplace_back();
  for (const auto& [label, value] : described) {
    table.headings.push_back({label, label});
    table.rows[0].push_back(value);
  }
  return table;
}

int PrintSummaries(const ReportOptions& options, const Console& console,
                   OutputBuffer* output) {
  int code = kExitOk;
  for (const std::string& path : options.files) {
    std::unique_ptr<RunFacts> facts;
    bool readable;
    code = std::max(code, ReadFacts(path, console, &facts, &readable));
    if (!readable) continue;
    if (options.format() != TableFormat::kText) {
      PrintTable(SummaryTable(*facts, options.format()), options.format(),
                 output);
      continue;
    }
    if (options.files.size() > 1) {
      output->Append(absl::StrCat(TerminalText(path), "\n"));
    }
    PrintSummaryText(*facts, output);
  }
  return code;
}

int RunCommand(const Command& command, const ReportOptions& options,
               const Console& console) {
  Console target = console;
  FdSink file_sink(-1);
  int fd = -1;
  if (!options.output.empty()) {
    fd = open(options.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
              0666);
    if (fd < 0) {
      console.Say(
          absl::StrCat(TerminalText(options.output), ": ", strerror(errno)));
      return kExitUsage;
    }
    file_sink = FdSink(fd);
    target.out = &file_sink;
  }
  OutputBuffer output(target.out);
  int code = absl::string_view(command.name) == "top"
                 ? PrintTop(options, console, &output)
                 : PrintSummaries(options, console, &output);
  code = std::max(code, FinishOutput(target, &output));
  if (fd >= 0) close(fd);
  return ReaderHasGone(target) ? kExitOk : code;
}

std::vector<Table::Heading> TopHeadings(PlaceKind kind, bool with_function) {
  std::vector<Table::Heading> headings;
  if (with_function) {
    headings = {{"file", "file"}, {"line", "line"}, {"function", "function"}};
  } else {
    const char* name = kind == PlaceKind::kFile ? "file" : "thread";
    headings = {{name, name}};
  }
  headings.insert(headings.end(),
                  {{"growth_bytes", "growth", CellLook::kBytes},
                   {"shrinkage_bytes", "shrinkage", CellLook::kBytes},
                   {"net_bytes", "net", CellLook::kBytes},
                   {"rows", "rows"},
                   {"share", "share", CellLook::kShare}});
  return headings;
}

void SayUnknownCommand(const std::string& name, const Console& console) {
  std::vector<std::string> names;
  for (const Command& known : kCommands) names.push_back(known.name);
  const std::string nearest = NearestName(name, names);
  console.Usage(absl::StrCat(
      name.empty() ? "expected a command" : "unknown command '",
      TerminalText(name), name.empty() ? "" : "'",
      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

}  // namespace

Table TopTable(const ProfileTable& profile, uint64_t limit,
               uint64_t own_bytes) {
  const PlaceKind kind = profile.kind();
  const bool with_function =
      kind == PlaceKind::kLine || kind == PlaceKind::kFunction;
  Table table;
  table.headings = TopHeadings(kind, with_function);
  const auto add = [&](const ProfiledPlace& place, bool has_line, Cell share) {
    std::vector<Cell> row = {place.file};
    if (with_function) {
      row.push_back(has_line ? Cell(static_cast<int64_t>(place.line)) : Cell());
      row.push_back(has_line ? Cell(place.function) : Cell());
    }
    const RssTotals& totals = place.totals;
    row.insert(row.end(),
               {static_cast<int64_t>(totals.growth_bytes),
                static_cast<int64_t>(totals.shrinkage_bytes),
                totals.net_bytes(), static_cast<int64_t>(totals.rows), share});
    table.rows.push_back(std::move(row));
  };
  const double all = static_cast<double>(profile.total().growth_bytes);
  for (const ProfiledPlace& place : profile.Sorted()) {
    if (limit > 0 && table.rows.size() >= limit) break;
    const double growth = static_cast<double>(place.totals.growth_bytes);
    add(place, true, all > 0 ? growth / all : 0.0);
  }
  ProfiledPlace own;
  own.file = std::string(kTracingItself);
  own.totals.growth_bytes = own_bytes;
  add(own, false, Cell());
  return table;
}

int RunPymemreport(const std::vector<std::string>& arguments,
                   const Console& console) {
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (name == "--help" || name == "-h") {
    console.out->Append(kHelp).IgnoreError();
    return kExitOk;
  }
  if (name == "--version") {
    console.out->Append("pymemreport " PYMEMRUN_VERSION "\n").IgnoreError();
    return kExitOk;
  }
  const Command* command = std::find_if(
      std::begin(kCommands), std::end(kCommands),
      [&name](const Command& known) { return name == known.name; });
  if (command == std::end(kCommands)) {
    SayUnknownCommand(name, console);
    return kExitUsage;
  }
  if (command->help == nullptr) {
    console.Usage(absl::StrCat("the command '", name, "' is not built yet"));
    return kExitUsage;
  }
  ReportOptions options;
  const std::optional<int> ended = ParseReport(
      *command, {arguments.begin() + 1, arguments.end()}, console, &options);
  if (ended.has_value()) return *ended;
  return RunCommand(*command, options, console);
}

}  // namespace pymemrun
