#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/across_runs/diff/diff_text.h"
#include "readers/across_runs/diff/gate.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/report/report_command.h"

namespace pymemrun {
namespace {

// RunSide reads each run, PrintDiff() compares them, and Judge() applies
// limits. The exit code is that of the limits, if there are any.
class DiffCommand final : public ReportCommand {
 public:
  DiffCommand()
      : ReportCommand(
            "diff", "what changed from one run to another; limits for CI",
            "Compares two runs: their peaks, times, and what each of your "
            "lines held. A line that moved is recognized, in another checkout "
            "too.\n\nAfter edits a line is known by its function, its file and "
            "its text. A row is listed if its change exceeds sampling noise: "
            "three standard errors, or more when many rows are compared. Exact "
            "figures have no error. new, gone, moved and edited describe the "
            "line itself.\n\nExit code 3: a limit of --fail-if "
            "is exceeded.") {}

  void AddOptions(CLI::App* app) override;
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  RunSideOptions side_;
  TableOptions table_;
  std::optional<FiguresFormat> figures_;
  std::vector<Limit> limits_;
};

void DiffCommand::AddOptions(CLI::App* app) {
  files_.AddTwo(app);
  needs_.AddWith("--stacks", Recorded::kHeap);
  AddGroupBy(app, &side_.by,
             {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
              GroupBy::kFile, GroupBy::kThread, GroupBy::kAllocator,
              GroupBy::kModule, GroupBy::kPackage},
             "Group by line (default; your code's), library-line (the "
             "innermost), function (Python's), file, thread, allocator, module "
             "(the file that called malloc), package.");
  AddParsed(
      app, "--at", &side_.at,
      [](absl::string_view text) -> absl::StatusOr<std::optional<Moment>> {
        auto moment = ParseMoment(text);
        if (!moment.ok()) return moment.status();
        return std::optional<Moment>(*std::move(moment));
      },
      "T",
      "Compare what places hold at this moment of each run, one of those of "
      "heap --at. Totals and limits cover the whole runs.");
  app->add_flag("--stacks", side_.stacks,
                "Print a tree of call stacks with the change of live bytes, at "
                "their peak or --at T. --limit N then counts frames.");
  app->add_option_function<std::vector<std::string>>(
         "--fail-if",
         [this](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             auto limit = ParseLimit(text);
             if (!limit.ok()) {
               throw CLI::ValidationError(
                   "--fail-if", std::string(limit.status().message()));
             }
             limits_.push_back(*std::move(limit));
           }
         },
         "Exit with 3 if NEW exceeds a limit, such as 'peak>+5%', "
         "'heap>+1MiB', 'time>+0.5s' or 'peak>512MiB'. + means above OLD. "
         "Figures: peak, heap, heap-end, growth, time, cpu. Repeatable.")
      ->option_text("LIMIT")
      ->allow_extra_args(false);
  AddParsed(
      app, "--format", &figures_,
      [](absl::string_view text)
          -> absl::StatusOr<std::optional<FiguresFormat>> {
        if (text == "bmf") return FiguresFormat::kBencher;
        if (text == "customSmallerIsBetter") {
          return FiguresFormat::kSmallerIsBetter;
        }
        return ExpectedOneOf({"bmf", "customSmallerIsBetter"}, text);
      },
      "FORMAT",
      "Print NEW's figures as bmf (for Bencher) or customSmallerIsBetter (for "
      "github-action-benchmark).");
  table_.Add(app, 10);
  table_.AddSort(app);
  AddFilesOfPlaces(app, &table_.view);
  AddOwn(app);
  files_.AddOutput(app);
  // Two runs need not have the same threads.
  Refuse(app, "--thread", "use --by thread to compare the threads of two runs");
  // NEW's figures are of the whole run.
  Exclude(app, {"--format"}, {"--csv", "--json", "--stacks", "--at"});
  Exclude(app, {"--by allocator|module|package|thread"}, {"--stacks"});
  Exclude(app, {"--sort", "--file", "--exclude", "--function"},
          {"--stacks", "--format"});
  SetUsualOptions(
      app, {"--fail-if", "--by", "--at", "--stacks", "--limit", "--json"});
}

int DiffCommand::Run(const Console& console, OutputBuffer* output) {
  std::unique_ptr<RunSide> sides[2];
  int code = kExitOk;
  // One file at a time: a side keeps its figures and names, not the file.
  for (size_t i = 0; i < 2; ++i) {
    const auto file = RereadFile::Open(files_.paths[i], console);
    if (file == nullptr) return kExitFailed;
    file->LeaveLossesToReport();
    sides[i] = RunSide::Read(file.get(), side_, console, &code);
    if (sides[i] == nullptr) return code;
    // Asked of each run: RunReading asks only the first file.
    if (side_.stacks && !file->Has(Recorded::kHeap)) return file->code();
  }
  if (figures_.has_value()) {
    output->Append(FiguresJson(*sides[1], *figures_));
  } else {
    const absl::Status printed = PrintDiff(
        *sides[0], *sides[1],
        {side_.by, side_.stacks, table_.limit(), table_.format(), table_.view},
        output);
    if (!printed.ok()) {
      console.Usage(printed.message());
      return kExitUsage;
    }
    SayNoPlaces(
        !sides[0]->HasAny(table_.view) && !sides[1]->HasAny(table_.view),
        table_.view, side_.by, console, output);
  }
  // A breach counts for more than a limit that cannot be judged.
  const Verdict verdict = Judge(limits_, *sides[0], *sides[1]);
  for (const std::string& line : verdict.unknown) console.Say(line);
  for (const std::string& line : verdict.breaches) console.Say(line);
  if (!verdict.breaches.empty()) return kExitBreach;
  return verdict.unknown.empty() ? code : kExitUsage;
}

}  // namespace

std::unique_ptr<ReportCommand> NewDiffCommand() {
  return std::make_unique<DiffCommand>();
}

}  // namespace pymemrun
