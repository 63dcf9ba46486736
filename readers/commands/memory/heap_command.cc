#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "readers/commands/memory/heap_modes.h"
#include "readers/objects/blocks/heap_objects.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/places/place_tree.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/replay/heap/heap_stacks.h"
#include "readers/replay/heap/heap_table.h"
#include "readers/replay/heap_in_rss/heap_mapped.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

enum class HeapAs { kTable, kTree, kSnapshot };
// Usual limits, of text.
constexpr uint64_t kPlaces = 20, kFrames = 30;
uint64_t UsualLimit(HeapAs as) {
  if (as == HeapAs::kSnapshot) return 0;
  return as == HeapAs::kTree ? kFrames : kPlaces;
}

// The heap is replayed up to the moments of the mode. heap_modes.cc makes the
// tables; trees and snapshots are printed here.
class HeapCommand final : public ReportCommand {
 public:
  HeapCommand()
      : ReportCommand(
            "heap",
            "live bytes at a moment and who allocated them; leaks, diffs",
            "Lists what is alive on the heap at a moment, and who allocated "
            "it.\n\nIf allocations were sampled, the numbers are estimates, "
            "each with one standard error.") {}

  std::vector<OldName> OldNames() const override {
    return {{"tree", {"--as", "tree"}, "Prints live bytes as a tree of calls."},
            {"snapshot", {"--as", "snapshot"}, "Prints all stacks of blocks."}};
  }
  void AddOptions(CLI::App* app) override;
  std::vector<std::string> Prepared(
      std::vector<std::string> arguments) const override;
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  std::vector<std::string> FilesToRead() const override;
  void AddConflicts(CLI::App* app);
  int PrintTable(const HeapMoments& replay, ThreadFilter* threads,
                 RunReading* run, OutputBuffer* output) const;
  int Print(const HeapMoments& replay, RunReading* run,
            OutputBuffer* output) const;
  std::string StacksHeading(const HeapMoments& replay, ThreadFilter* threads,
                            const HeapRowsMaker::Keep& keep) const;
  void PrintStacks(const HeapMoments& replay, ThreadFilter* threads,
                   OutputBuffer* output) const;
  bool as_table() const { return as_ == HeapAs::kTable; }
  void SetMode();

  HeapAsked asked_;
  HeapAs as_ = HeapAs::kTable;
  bool inverted_ = false, leaks_ = false, reserved_ = false;
  HeapObjectsOptions objects_;
  PlaceOptions table_;
  StackOptions stacks_;
};

void HeapCommand::AddOptions(CLI::App* app) {
  files_.AddOne(app);
  AddMoment(app, &asked_.at);
  AddGroupBy(app, &asked_.by,
             {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
              GroupBy::kFile, GroupBy::kThread, GroupBy::kTask,
              GroupBy::kAllocator, GroupBy::kModule, GroupBy::kPackage},
             "Group by line (default; your code's), library-line (the "
             "innermost), function (Python's), file, thread, task (asyncio's), "
             "allocator, module (the file that called malloc), package.");
  app->add_flag("--leaks", leaks_,
                "Show what is alive at the end, without the interpreter's.");
  app->add_option("--diff", files_.compared,
                  "Show what FILE2, another run, has more or less than FILE.")
      ->option_text("FILE2");
  AddParsed(
      app, "--to", &asked_.to,
      [this](absl::string_view text) {
        return ParseEnd(text, asked_.at, "--at", /*may_be_empty=*/true);
      },
      "T", "Show what changed from --at T to this moment.");
  app->add_flag("--reserved", reserved_,
                "Show memory that C code has mapped, touched or not, if it was "
                "recorded.");
  AddParsed(
      app, "--temporary", &asked_.temporary,
      [](absl::string_view text) -> absl::StatusOr<uint32_t> {
        uint32_t number;
        if (absl::SimpleAtoi(text, &number) && number > 0) return number;
        return Expected("a number from 1 on", text);
      },
      "[N]",
      "Show blocks that were freed before their thread made N further "
      "allocations (1).");
  app->add_option("--objects", objects_.dump,
                  "Show the types of the objects in each line's blocks, and "
                  "what holds them. They come from this dump of the object "
                  "graph (the last one beside the run file).")
      ->option_text("[=DUMP]");
  AddChoice(app, "--as", &as_,
            Choices<HeapAs>{{"table", HeapAs::kTable},
                            {"tree", HeapAs::kTree},
                            {"snapshot", HeapAs::kSnapshot}},
            "KIND",
            "Print a table (default), a tree of calls, or a snapshot of all "
            "call stacks.");
  app->add_flag(
      "--inverted", inverted_,
      "Begin the tree with the frames that allocated; callers come below.");
  if (words().empty()) {
    table_.AddPlaces(
        app, UsualLimit(HeapAs::kTable),
        absl::StrCat(", with --as tree ", kFrames, ", with --as snapshot all"));
  } else {  // by an old name
    table_.AddPlaces(app,
                     UsualLimit(words().back() == "tree" ? HeapAs::kTree
                                                         : HeapAs::kSnapshot));
  }
  AddOwn(app);
  stacks_.Add(app);
  files_.AddOutput(app);
  AddConflicts(app);
  SetUsualOptions(
      app, {"--at", "--by", "--as", "--leaks", "--diff", "--limit", "--csv"});
}

// Modes exclude each other. What is listed for one moment, or as a tree, leaves
// no sense to some options.
void HeapCommand::AddConflicts(CLI::App* app) {
  needs_.Add(Recorded::kHeap);
  needs_.AddWith("--by task", Recorded::kTasks);
  // A sample does not know what came between an allocation and its free.
  needs_.AddWith("--temporary", Recorded::kEachBlock);
  needs_.AddWith("--reserved", Recorded::kBlocksOfC);
  ExcludeEachOther(app,
                   {"--leaks", "--temporary", "--diff", "--to", "--reserved"});
  Exclude(app, {"--leaks", "--temporary"}, {"--at"});  // of the whole run
  // What is alive at one moment.
  Exclude(app, {"--thread", "--objects"},
          {"--leaks", "--temporary", "--diff", "--to", "--reserved"});
  Exclude(app, {"--stacks", "--collapsed", "--as"},
          {"--temporary", "--diff", "--to", "--reserved", "--objects"});
  // Lines at the moment of a dump.
  Exclude(app, {"--objects"},
          {"--thread", "--by", "--at", "--sort", "--file", "--exclude",
           "--function"});
  Exclude(app, {"--by task"}, {"--diff"});
  Exclude(app, {"--by allocator|module"}, {"--stacks", "--collapsed", "--as"});
  Exclude(app, {"--as tree|snapshot"},
          {"--stacks", "--sort", "--file", "--exclude", "--function", "--own"});
  Exclude(app, {"--as tree"}, {"--csv", "--json", "--collapsed"});
  Exclude(app, {"--as snapshot"}, {"--leaks", "--by"});
  Need(app, {"--inverted"}, "--as tree");
}

// The values of two options may be missing. So "--temporary" becomes
// "--temporary=1" if no number follows, and "--objects" becomes
// "--objects=last".
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

int HeapCommand::PrintTable(const HeapMoments& replay, ThreadFilter* threads,
                            RunReading* run, OutputBuffer* output) const {
  auto shown = ShowHeap(asked_, replay, threads, table_.made_limit(),
                        table_.as_text(), run);
  if (!shown.has_value()) return run->code();
  return std::max(
      run->code(),
      table_.PrintPlaces(shown->heading, std::move(shown->table), asked_.by,
                         /*folds=*/true, run->console(), output));
}

std::string HeapCommand::StacksHeading(const HeapMoments& replay,
                                       ThreadFilter* threads,
                                       const HeapRowsMaker::Keep& keep) const {
  std::string text = leaks_ ? LeaksText(replay, keep)
                            : LiveText(replay, 0) + ThreadText(replay, threads);
  if (!leaks_ && as_ != HeapAs::kSnapshot) text += MeaningText(replay);
  if (!leaks_ && as_ == HeapAs::kTable) text += RestText(replay);
  text += ReservedText(replay);
  return as_ == HeapAs::kTree ? text : text + HeapHeading(replay);
}

void HeapCommand::PrintStacks(const HeapMoments& replay, ThreadFilter* threads,
                              OutputBuffer* output) const {
  InterpreterStacks interpreter(&replay.index());
  const HeapRowsMaker::Keep keep =
      leaks_ ? LeaksOnly(&interpreter) : OfThreads(threads);
  if (as_ == HeapAs::kSnapshot && table_.json) {
    // An object for each stack, thread and allocator; a tree joins these.
    return PrintSnapshotJson(replay, table_.limit(), keep, output);
  }
  if (table_.as_text() && !stacks_.collapsed) {
    output->AppendLines(StacksHeading(replay, threads, keep));
  }
  // Inverted, the frames of an import are of interest: one of them allocated.
  const PlaceTree tree =
      HeapTree(asked_.by, replay,
               {.inverted = inverted_,
                .folds_imports = as_ == HeapAs::kTree && !inverted_,
                .keep = keep});
  if (as_ != HeapAs::kTree) return stacks_.Print(tree, table_, output);
  output->Append(TreeText(tree, table_.limit(), output->terminal()));
  const uint64_t limit = table_.limit();
  const uint64_t frames = tree.nodes().size() - 1;
  if (limit != 0 && frames > limit) {
    output->AppendLines(absl::StrCat(Counted(frames - limit, "smaller frame"),
                                     " not shown (--limit)\n"));
  }
}

void HeapCommand::SetMode() {
  asked_.compared = files_.compared;
  asked_.mode = leaks_                     ? HeapReportMode::kLeaks
                : asked_.temporary != 0    ? HeapReportMode::kTemporary
                : reserved_                ? HeapReportMode::kReserved
                : asked_.to.has_value()    ? HeapReportMode::kChange
                : !asked_.compared.empty() ? HeapReportMode::kDiff
                                           : HeapReportMode::kLive;
}

// So that -o cannot overwrite the dump of --objects.
std::vector<std::string> HeapCommand::FilesToRead() const {
  std::vector<std::string> all = files_.All();
  for (const std::string& run : files_.paths) {
    all.push_back(DumpOf(run, objects_));
  }
  return all;
}

int HeapCommand::Print(const HeapMoments& replay, RunReading* run,
                       OutputBuffer* output) const {
  ThreadFilter threads(table_.thread, &replay.index());
  if (!run->HasNeeded() || !run->HasThread(&threads)) return run->code();
  if (as_table() && !stacks_.any()) {
    return PrintTable(replay, &threads, run, output);
  }
  PrintStacks(replay, &threads, output);
  return kExitOk;
}

// Moments are found by a first reading, or by several; the next one replays the
// heap up to them. By task, that reading also learns which task ran when.
int HeapCommand::Run(const Console& console, OutputBuffer* output) {
  if (!objects_.dump.empty()) {
    objects_.limit = table_.limit();
    objects_.format = table_.format();
    return ShowHeapObjects(files_.paths[0], objects_, console, output);
  }
  SetMode();
  table_.usual_limit = UsualLimit(as_);
  int code = kExitOk;
  RunReading run(*this, console);
  RereadFile* const file = run.file();
  if (file == nullptr) return run.code();
  if (as_table() && table_.as_text() && !stacks_.collapsed) {
    file->LeaveLossesToReport();
  }
  const bool by_task = asked_.by == GroupBy::kTask;
  TaskStepsReader tasks(file);
  tasks.LeaveNames();
  std::vector<HeapMoment> moments =
      FindHeapMoments(MomentsOf(asked_, file), file, console, &code,
                      by_task ? &tasks : nullptr);
  if (moments.empty()) return code;
  HeapMoments replay(std::move(moments),
                     /*to_end=*/as_table() || asked_.at.kind == Moment::kPeak);
  replay.CountTemporary(asked_.temporary);
  if (by_task) {
    if (!run.HasNeeded()) return run.code();
    replay.TellTasksApart(
        &tasks, stacks_.any() || !as_table() || leaks_ || table_.view.any(),
        [](const HeapSource&) {});
  }
  if (!ReadHeapAgain(file, console, &replay, &code)) return code;
  // Only the names of tasks that still have blocks are read.
  if (by_task && !ReadTaskNames(replay.model(), &tasks)) return kExitFailed;
  return std::max(code, Print(replay, &run, output));
}

}  // namespace

std::unique_ptr<ReportCommand> NewHeapCommand() {
  return std::make_unique<HeapCommand>();
}

}  // namespace pymemrun
