#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/options/help_text.h"
#include "readers/replay/current_task/task_steps_reader.h"
#include "readers/replay/growth/profile_table.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/replay/summary/facts_reader.h"
#include "readers/replay/threads/caused_growth.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"

namespace pymemrun {
namespace {

// Several files are summed up into one ProfileTable. All of them are opened
// first: whether growth is charged to who caused it depends on all.
class TopCommand final : public ReportCommand {
 public:
  TopCommand()
      : ReportCommand(
            "top", "the places where RSS grew",
            "Lists the places where RSS grew.\n\nGrowth that pymemcat shows at "
            "a C function is counted where Python code calls it: at the "
            "calling line, and for the Python function it is in. By thread or "
            "task, growth is charged to the one that caused it, if the run has "
            "page faults.") {}

  void AddOptions(CLI::App* app) override {
    needs_.AddWith("--by task", Recorded::kTasks);
    needs_.AddWith("--by thread|task", Recorded::kGrowth);
    needs_.AddWith("--thread-attribution caused", Recorded::kFaults);
    needs_.AddWith("--thread-attribution observed", Recorded::kCalls);
    files_.AddSeveral(app);
    AddGroupBy(
        app, &by_,
        {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
         GroupBy::kFile, GroupBy::kThread, GroupBy::kTask, GroupBy::kPackage},
        "Group by line (default; your code's), library-line (the innermost), "
        "function (Python's), file, thread, task (asyncio's, by its steps), "
        "package.");
    table_.AddPlaces(app, 20);
    AddAttribution(
        app, &attribution_,
        "Default: observed. With --by thread, --by task or --thread the "
        "default is caused, if the run has page faults.");
    range_.Add(app);
    AddOwn(app);
    files_.AddOutput(app);
    SetUsualOptions(
        app, {"--by", "--limit", "--sort", "--thread", "--csv", "--output"});
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  // A file; where tasks, or what threads caused, are asked for it was read
  // before, and may tell that.
  struct Input {
    std::string path;
    std::unique_ptr<RereadFile> file;
    std::unique_ptr<TaskStepsReader> tasks;
    std::unique_ptr<ThreadReplay> caused;
    TimeRange range;
  };
  bool WantsCaused() const {
    return attribution_.has_value()
               ? attribution_ == Attribution::kCaused
               : by_ == GroupBy::kThread || by_ == GroupBy::kTask ||
                     !table_.thread.empty();
  }
  bool NeedsSteps() const { return by_ == GroupBy::kTask; }
  // False: it cannot be read, or lacks steps, which has been said.
  bool Open(const Console& console, Input* input, int* code) const;
  // What stands above the table.
  std::string Meaning(bool is_caused) const;
  std::vector<Input> OpenAll(const Console& console, int* code) const;
  // False: there is nothing to add, which has been said.
  bool Add(const Input& input, const Console& console, int* code,
           ProfileTable* profile, OwnCost* cost) const;

  GroupBy by_ = GroupBy::kLine;
  PlaceOptions table_;
  std::optional<Attribution> attribution_;
  RangeOptions range_;
};

std::string TopCommand::Meaning(bool is_caused) const {
  if (is_caused && by_ == GroupBy::kTask) {
    return "growth: pages added in steps of a task; shrinkage: pages that its "
           "calls released\n";
  }
  if (is_caused) return absl::StrCat(kCausedMeaning, "\n");
  if (by_ == GroupBy::kTask) {
    return "RSS grew in steps of these tasks, by logged events; pymemreport "
           "heap --by task shows which tasks hold memory\n";
  }
  return "RSS grew while these lines ran; pymemreport heap shows which lines "
         "hold memory\n";
}

std::vector<TopCommand::Input> TopCommand::OpenAll(const Console& console,
                                                   int* code) const {
  std::vector<Input> inputs;
  for (const std::string& path : files_.paths) {
    Input input;
    input.path = path;
    if (Open(console, &input, code)) inputs.push_back(std::move(input));
  }
  return inputs;
}

// A plain report reads each file once, in Add(). Only tasks, causes and ranges
// need readings before that.
bool TopCommand::Open(const Console& console, Input* input, int* code) const {
  if (!WantsCaused() && !NeedsSteps() && !range_.any()) return true;
  const auto failed = [code](int with) {
    *code = std::max(*code, with);
    return false;
  };
  input->file = RereadFile::Open(input->path, console);
  RereadFile* const file = input->file.get();
  if (file == nullptr) return failed(kExitFailed);
  int why = kExitOk;
  if (NeedsSteps()) {
    input->tasks = std::make_unique<TaskStepsReader>(file);
    if (!ReadTaskSteps(file, input->tasks.get(), &why)) {
      return failed(why);
    }
  }
  MomentRange range;
  if (!range_.Find(file, console, &range, &why)) return failed(why);
  input->range = TimeRange::OfMicros(range.from_us, range.to_us);
  // What is of that very moment is of the next range: halves make a whole.
  if (range.to_us != ReplayVisitor::kEnd) --input->range.end_ns;
  FirstReading first;
  if (!WantsCaused()) return file->Read(&first) || failed(kExitFailed);
  const auto finder = FindPeak(file);
  if (finder == nullptr) return failed(kExitFailed);
  input->caused = ReadCaused(file, *finder, input->tasks.get(), input->range);
  return true;
}

// A file that was opened before has its facts read again, with tasks and range.
bool TopCommand::Add(const Input& input, const Console& console, int* code,
                     ProfileTable* profile, OwnCost* cost) const {
  const bool is_caused = profile->of() == Attribution::kCaused;
  const auto facts =
      input.file == nullptr
          ? FactsReader::Read(input.path, console, code, table_.thread)
          : FactsReader::ReadAgain(input.file.get(), console, code,
                                   table_.thread, input.tasks.get(),
                                   input.range);
  if (facts == nullptr) return false;
  if (!(is_caused ? input.caused != nullptr : facts->HasCalls())) {
    const bool by_either =
        !attribution_.has_value() && (by_ == GroupBy::kThread || NeedsSteps());
    console.Say(absl::StrCat(facts->shown_name(), ": ",
                             LackText(is_caused   ? Recorded::kFaults
                                      : by_either ? Recorded::kGrowth
                                                  : Recorded::kCalls)));
    *code = std::max(*code, kExitUsage);
    return false;
  }
  facts->AddTo(profile);
  facts->AddCost(cost);
  if (is_caused) AddCaused(*input.caused, table_.thread, profile);
  return true;
}

int TopCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  const std::vector<Input> inputs = OpenAll(console, &code);
  // Without the option, causes are used only if every run has them: sums of
  // both kinds would mean nothing.
  const bool is_caused =
      WantsCaused() &&
      (attribution_.has_value() ||
       std::all_of(inputs.begin(), inputs.end(),
                   [](const Input& input) { return input.caused != nullptr; }));
  ProfileTable profile(
      by_, is_caused ? Attribution::kCaused : Attribution::kObserved);
  OwnCost cost = {.of_part = range_.any()};
  bool any = false;
  for (const Input& input : inputs) {
    any |= Add(input, console, &code, &profile, &cost);
  }
  if (!any) return code;
  Table table = TopTable(profile, table_.made_limit(), cost);
  if (range_.any() && table.rows.empty()) {
    for (const Input& input : inputs) {
      SayNotInRange("growth", table_.thread, input.file.get(), console);
    }
    if (table_.as_text()) return code;
  }
  const int printed =
      table_.PrintPlaces(Meaning(is_caused), std::move(table), by_,
                         /*folds=*/false, console, output);
  if (printed == kExitOk && table_.as_text() && !table_.view.chooses_places()) {
    output->AppendLines(table_.NotShown(profile.places(), "place", "places"));
  }
  return std::max(code, printed);
}

}  // namespace

std::unique_ptr<ReportCommand> NewTopCommand() {
  return std::make_unique<TopCommand>();
}

}  // namespace pymemrun
