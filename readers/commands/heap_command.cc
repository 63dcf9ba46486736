#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "readers/diff/heap_diff.h"
#include "readers/heap/heap_reading.h"
#include "readers/heap/heap_stacks.h"
#include "readers/heap/heap_table.h"
#include "readers/heap_in_rss/heap_mapped.h"
#include "readers/moments/moment_reading.h"
#include "readers/objects_heap/heap_objects.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/report/report_command.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

HeapRowsMaker::Keep LeaksOnly(InterpreterStacks* interpreter) {
  return [interpreter](const HeapSource& source) {
    return !source.tracing && !interpreter->Contains(source.key.stack);
  };
}

std::vector<HeapSums> TemporarySums(const HeapModel& model) {
  std::vector<HeapSums> sums;
  for (const HeapSource& source : model.sources()) {
    sums.push_back(source.temporary);
  }
  return sums;
}

struct Shown {
  Shown(GroupBy by, bool of_reserved) : rows(by, of_reserved) {}

  std::string heading;
  HeapTableOptions table;
  HeapRowsMaker rows;
  std::optional<HeapRows> diff;  // instead of these
};

// Blocks alive and, beside them, what is resident of mappings.
void ShowBlocks(const HeapMoments& replay, RereadFile* file,
                const HeapRowsMaker::Keep& keep, Shown* shown) {
  const auto resident = ReadMappedResident(replay, file);
  shown->heading += MappedText(replay, resident);
  shown->rows.Add(replay, replay.SumsAt(0), /*before=*/false, keep);
  if (resident.has_value()) shown->rows.AddMapped(replay, *resident, keep);
}

void ShowLive(const HeapMoments& replay, RereadFile* file,
              ThreadFilter* threads, Shown* shown) {
  shown->heading = LiveText(replay, 0) + ThreadText(replay, threads) +
                   PeakText(replay) + MeaningText(replay) + RestText(replay);
  shown->rows.KeepThreads(threads);
  ShowBlocks(replay, file, nullptr, shown);
}

void ShowReserved(const HeapMoments& replay, RereadFile* file, Shown* shown) {
  shown->heading =
      absl::StrCat("mapped by C code at ", MomentText(replay, 0), "\n");
  shown->table.name = "reserved";
  ShowBlocks(replay, file, nullptr, shown);
}

// What --leaks begins with, of what passes `keep`.
std::string LeaksText(const HeapMoments& replay,
                      const HeapRowsMaker::Keep& keep) {
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  HeapSums leaked;
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (source.counts() && keep(source)) leaked.Add(sums[i]);
  }
  const absl::string_view end = replay.moment(0).name;
  return absl::StrCat("alive at ", end, ": ", HeapSumsText(leaked, replay),
                      ", without what the interpreter keeps for itself\n",
                      LiveText(replay, 0), PeakText(replay));
}

void ShowLeaks(const HeapMoments& replay, RereadFile* file, Shown* shown) {
  InterpreterStacks interpreter(&replay.index());
  const auto keep = LeaksOnly(&interpreter);
  shown->heading = LeaksText(replay, keep);
  ShowBlocks(replay, file, keep, shown);
}

void ShowTemporary(uint32_t limit, const HeapMoments& replay, Shown* shown) {
  const std::vector<HeapSums> sums = TemporarySums(replay.model());
  shown->heading = absl::StrCat(
      "temporary ", HeapSumsText(TotalsOf(replay.model(), sums).live, replay),
      ", freed before ", Counted(limit, "further allocation"),
      " of the same thread\n");
  shown->table.name = "temporary";
  shown->table.with_mapped = false;
  shown->rows.Add(replay, sums);
}

void ShowChange(const HeapMoments& replay, Shown* shown) {
  shown->heading = absl::StrCat("before: ", LiveText(replay, 0),
                                "after: ", LiveText(replay, 1));
  shown->table.is_change = true;
  shown->table.name = "change";
  shown->rows.Add(replay, replay.SumsAt(0), /*before=*/true);
  shown->rows.Add(replay, replay.SumsAt(1));
}

void ShowDiff(const HeapMoments& first, const HeapMoments& second,
              Shown* shown) {
  shown->heading =
      absl::StrCat("before: ", LiveText(first, 0), HeapHeading(first),
                   "after: ", LiveText(second, 0), HeapHeading(second));
  shown->table.is_change = true;
  shown->table.name = "change";
  shown->table.with_errors |= second.sampled();
  shown->table.unseen.TakeMost(second.unseen());
  shown->diff = DiffHeapRows(shown->table.by, first, second);
}

// Whether not every allocation was recorded, so that none can be said to have
// been the next; says so.
bool SayNotTemporary(const HeapReplay& replay, const std::string& path,
                     const Console& console) {
  if (!replay.sampled()) return false;
  console.Say(absl::StrCat(TerminalText(path),
                           ": --temporary needs every allocation: the run was "
                           "not made with --heap all"));
  return true;
}

// Whether nothing of C code was recorded; says so.
bool SayNothingReserved(const HeapReplay& replay, const std::string& path,
                        const Console& console) {
  if (replay.header().heap_native()) return false;
  console.Say(absl::StrCat(TerminalText(path),
                           ": --reserved needs a run with --native"));
  return true;
}

class HeapCommand final : public ReportCommand {
 public:
  HeapCommand()
      : ReportCommand(
            "heap",
            "live bytes at a moment and who allocated them; leaks, diffs",
            "Lists what is alive on the heap at a moment, and who allocated "
            "it. It needs a run with heap events.\n\nOf sampled allocations "
            "the numbers are estimates, with one standard error beside them.") {
  }

  void AddOptions(CLI::App* app) override;
  std::vector<std::string> Prepared(
      std::vector<std::string> arguments) const override;
  std::string Problem() const override;
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  std::vector<std::string> FilesToRead() const override;
  int PrintTables(const HeapMoments& replay, ThreadFilter* threads,
                  RereadFile* file, const Console& console,
                  OutputBuffer* output) const;
  void PrintStacks(const HeapMoments& replay, ThreadFilter* threads,
                   OutputBuffer* output) const;
  std::vector<Moment> Moments() const;  // without that of --diff
  Moment at_;
  const CLI::Option* at_option_ = nullptr;  // while options are looked at
  std::optional<Moment> to_;                // the change up to this moment
  GroupBy by_ = GroupBy::kLine;
  bool leaks_ = false;
  HeapObjectsOptions objects_;
  bool reserved_ = false;   // what C code has mapped, instead of blocks
  uint32_t temporary_ = 0;  // freed before so many allocations; 0: all blocks
  PlaceOptions table_;
  StackOptions stacks_;
};

void HeapCommand::AddOptions(CLI::App* app) {
  files_.AddOne(app);
  AddMoment(app, &at_);
  at_option_ = app->get_option("--at");
  AddGroupBy(app, &by_,
             {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
              GroupBy::kFile, GroupBy::kThread, GroupBy::kTask,
              GroupBy::kAllocator, GroupBy::kModule},
             "Group by line (default; your code's), library-line (the "
             "innermost), function (Python's), file, thread, task (asyncio's), "
             "allocator, module (the file that called malloc).");
  app->add_flag("--leaks", leaks_,
                "Show what is alive when the program ends, without what the "
                "interpreter keeps for itself.");
  app->add_option("--diff", files_.compared,
                  "Show what FILE2, another run, has more or less.")
      ->option_text("FILE2");
  AddParsed(app, "--to", &to_, ParseMoment, "T",
            "Show what changed from --at T to this moment.");
  app->add_flag("--reserved", reserved_,
                "Show what C code has mapped, touched or not, if the run "
                "recorded that.");
  AddParsed(
      app, "--temporary", &temporary_,
      [](absl::string_view text) -> absl::StatusOr<uint32_t> {
        uint32_t number;
        if (absl::SimpleAtoi(text, &number) && number > 0) return number;
        return Expected("a number from 1 on", text);
      },
      "[N]",
      "Show blocks that were freed before their thread had allocated N times "
      "more (1).");
  app->add_option(
         "--objects", objects_.dump,
         "Show the types of the objects in each line's blocks, and who "
         "holds them, at the moment of a dump of the object graph (the "
         "last one beside the run file).")
      ->option_text("[=DUMP]");
  table_.AddPlaces(app, 20);
  stacks_.Add(app);
  AddOwn(app);
  files_.AddOutput(app);
  SetUsualOptions(app,
                  {"--at", "--by", "--leaks", "--diff", "--limit", "--csv"});
}

// "--temporary" as "--temporary=1", where no number follows it.
std::vector<std::string> HeapCommand::Prepared(
    std::vector<std::string> arguments) const {
  std::vector<std::string> changed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    changed.push_back(arguments[i]);
    if (changed.back() == "--objects=") changed.back().pop_back();
    if (changed.back() == "--objects") changed.back() += "=last";
    if (arguments[i] != "--temporary") continue;
    int64_t number;
    const bool has_number =
        i + 1 < arguments.size() && absl::SimpleAtoi(arguments[i + 1], &number);
    changed.back() += absl::StrCat("=", has_number ? arguments[++i] : "1");
  }
  return changed;
}

std::string HeapCommand::Problem() const {
  const bool diff = !files_.compared.empty();
  if (leaks_ + (temporary_ != 0) + diff + to_.has_value() + reserved_ > 1) {
    return "give one of --leaks, --temporary, --diff, --to and --reserved";
  }
  if ((leaks_ || temporary_ != 0) && at_.kind != Moment::kPeak) {
    return absl::StrCat(leaks_ ? "--leaks" : "--temporary",
                        " looks at the whole run: it takes no --at");
  }
  if (!table_.thread.empty() &&
      (leaks_ || temporary_ != 0 || diff || to_.has_value() || reserved_)) {
    return "--thread is of what is alive at one moment";
  }
  if (!objects_.dump.empty() &&
      (leaks_ || temporary_ != 0 || diff || to_.has_value() || reserved_ ||
       stacks_.any() || !table_.thread.empty() || by_ != GroupBy::kLine ||
       at_option_->count() > 0 || table_.view.any())) {
    return "--objects is of lines at the moment of a dump: it goes with "
           "--limit, --csv and --json alone";
  }
  if (diff && by_ == GroupBy::kTask) {
    return "--by task is of one run: it takes no --diff";
  }
  const std::string problem = stacks_.Problem(table_, by_);
  if (!problem.empty() || !stacks_.any()) return problem;
  if (temporary_ != 0 || diff || reserved_ || to_.has_value()) {
    return "--stacks and --collapsed show what is alive at one moment";
  }
  if (by_ == GroupBy::kAllocator || by_ == GroupBy::kModule) {
    return "--stacks and --collapsed take --by line, function, file, thread or "
           "task";
  }
  return "";
}

int HeapCommand::PrintTables(const HeapMoments& replay, ThreadFilter* threads,
                             RereadFile* file, const Console& console,
                             OutputBuffer* output) const {
  Shown shown(by_, reserved_);
  shown.table.by = by_;
  shown.table.limit = table_.made_limit();
  shown.table.with_errors = replay.sampled();
  shown.table.with_mapped = replay.header().heap_native();
  shown.table.unseen = replay.unseen();
  shown.table.for_text = table_.as_text();
  int code = kExitOk;
  std::unique_ptr<HeapMoments> second;
  if (!files_.compared.empty()) {
    second = ReadHeapAt(files_.compared, at_, console, &code);
    if (second == nullptr) return code;
    shown.table.with_mapped |= second->header().heap_native();
    ShowDiff(replay, *second, &shown);
  } else if (to_.has_value()) {
    ShowChange(replay, &shown);
  } else if (temporary_ != 0) {
    ShowTemporary(temporary_, replay, &shown);
  } else if (leaks_) {
    ShowLeaks(replay, file, &shown);
  } else if (reserved_) {
    ShowReserved(replay, file, &shown);
  } else {
    ShowLive(replay, file, threads, &shown);
  }
  if (files_.compared.empty()) shown.heading += HeapHeading(replay);
  HeapRows rows =
      shown.diff.has_value() ? *std::move(shown.diff) : shown.rows.Take();
  return std::max(
      code,
      table_.PrintPlaces(shown.heading, HeapTable(shown.table, std::move(rows)),
                         by_, /*folds=*/true, console, output));
}

void HeapCommand::PrintStacks(const HeapMoments& replay, ThreadFilter* threads,
                              OutputBuffer* output) const {
  InterpreterStacks interpreter(&replay.index());
  const HeapRowsMaker::Keep keep =
      leaks_ ? LeaksOnly(&interpreter) : OfThreads(threads);
  if (table_.as_text() && !stacks_.collapsed) {
    output->AppendLines((leaks_ ? LeaksText(replay, keep)
                                : LiveText(replay, 0) +
                                      ThreadText(replay, threads) +
                                      MeaningText(replay) + RestText(replay)) +
                        ReservedText(replay) + HeapHeading(replay));
  }
  HeapStacks stacks(by_, &replay);
  stacks.Add(replay.SumsAt(0), keep);
  stacks_.Print(stacks, table_, output);
}

std::vector<Moment> HeapCommand::Moments() const {
  // Both are of the whole run.
  if (leaks_) return {Moment{Moment::kEnd}};
  if (temporary_ != 0) return {Moment{Moment::kExit}};
  std::vector<Moment> moments = {at_};
  if (to_.has_value()) moments.push_back(*to_);
  return moments;
}

std::vector<std::string> HeapCommand::FilesToRead() const {
  std::vector<std::string> all = files_.All();
  for (const std::string& run : files_.paths) {
    all.push_back(DumpOf(run, objects_));
  }
  return all;
}

int HeapCommand::Run(const Console& console, OutputBuffer* output) {
  if (!objects_.dump.empty()) {
    objects_.limit = table_.limit();
    objects_.format = table_.format();
    return ShowHeapObjects(files_.paths[0], objects_, console, output);
  }
  int code = kExitOk;
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  if (table_.as_text() && !stacks_.collapsed) file->LeaveLossesToReport();
  const bool by_task = by_ == GroupBy::kTask;
  TaskStepsReader tasks(file.get());
  tasks.LeaveNames();
  std::vector<HeapMoment> moments = FindHeapMoments(
      Moments(), file.get(), console, &code, by_task ? &tasks : nullptr);
  if (moments.empty()) return code;
  HeapMoments replay(std::move(moments), /*to_end=*/true);
  replay.CountTemporary(temporary_);
  if (by_task) {
    if (!HasTaskSteps(*file, console, tasks, &code)) return code;
    replay.TellTasksApart(&tasks, stacks_.any() || leaks_ || table_.view.any(),
                          [](const HeapSource&) {});
  }
  if (!ReadHeapAgain(file.get(), console, &replay, &code)) return code;
  if (by_task && !ReadTaskNames(replay.model(), &tasks)) return kExitFailed;
  if ((temporary_ != 0 && SayNotTemporary(replay, files_.paths[0], console)) ||
      (reserved_ && SayNothingReserved(replay, files_.paths[0], console))) {
    return kExitUsage;
  }
  ThreadFilter threads(table_.thread, &replay.index());
  if (SayNoThread(&threads, file->shown_name(), console)) return kExitUsage;
  if (stacks_.any()) {
    PrintStacks(replay, &threads, output);
  } else {
    code = std::max(code,
                    PrintTables(replay, &threads, file.get(), console, output));
  }
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewHeapCommand() {
  return std::make_unique<HeapCommand>();
}

}  // namespace pymemrun
