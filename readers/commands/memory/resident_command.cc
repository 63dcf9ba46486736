#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/replay/current_task/task_steps_reader.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/replay/heap_in_rss/heap_pages.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/replay/resident/resident_table.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"
#include "readers/run/reread_file.h"

namespace pymemrun {
namespace {

class ResidentCommand final : public ReportCommand {
 public:
  ResidentCommand()
      : ReportCommand(
            "resident",
            "resident pages at a moment, by the code that touched them",
            "Lists the resident pages at a moment, by the code that touched "
            "them.\n\nBytes are charged to the place that first touched the "
            "page. All rows add up to RSS. `unattributed` is what statm counts "
            "beyond the known pages. It may be negative.") {}

  void AddOptions(CLI::App* app) override;
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  // Prints the heap's tree if there is a `heap`.
  void PrintStacks(const ResidentReplay& replay, const HeapReplay* heap,
                   ThreadFilter* threads, OutputBuffer* output) const;

  Moment at_;
  GroupBy by_ = GroupBy::kLine;
  // Whether pages are charged to the blocks in them; none: if no faults were
  // recorded.
  std::optional<bool> by_blocks_;
  PlaceOptions table_;
  StackOptions stacks_;
};

void ResidentCommand::AddOptions(CLI::App* app) {
  needs_.Add(Recorded::kPages);
  needs_.AddWith("--by task", Recorded::kTasks);
  needs_.AddWith("--owner heap", Recorded::kHeap);
  files_.AddOne(app);
  AddMoment(app, &at_);
  AddGroupBy(app, &by_,
             {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
              GroupBy::kFile, GroupBy::kThread, GroupBy::kTask,
              GroupBy::kMapping, GroupBy::kModule, GroupBy::kPackage},
             "Group by line (default; your code's), library-line (the "
             "innermost), function (Python's), file, thread, task "
             "(asyncio's) or package. Also by mapping (what the page is part "
             "of) or module (the file whose instruction touched it).");
  AddChoice<std::optional<bool>>(
      app, "--owner", &by_blocks_, {{"touch", false}, {"heap", true}}, "KIND",
      "Charge a page to the code that first touched it (touch, default) or "
      "that "
      "allocated its blocks (heap; default for scanned pages).");
  table_.AddPlaces(app, 20);
  AddOwn(app);
  stacks_.Add(app);
  files_.AddOutput(app);
  Exclude(app, {"--by mapping"}, {"--stacks", "--collapsed", "--owner heap"});
  SetUsualOptions(app,
                  {"--at", "--by", "--owner", "--limit", "--csv", "--output"});
}

void ResidentCommand::PrintStacks(const ResidentReplay& replay,
                                  const HeapReplay* heap, ThreadFilter* threads,
                                  OutputBuffer* output) const {
  stacks_.Print(heap == nullptr ? ResidentTree(by_, replay, threads)
                                : HeapResidentTree(by_, replay, *heap, threads),
                table_, output);
}

// Exact blocks share each page by their bytes in it. Sampled ones stand for
// others elsewhere, so all anonymous memory is estimated from them.
std::string Heading(const FoundMoment& at, const ResidentReplay& replay,
                    const HeapReplay* heap) {
  std::string text = ResidentHeading(replay, at.Text());
  if (heap == nullptr) return text;
  if (!heap->sampled()) {
    absl::StrAppend(&text,
                    "pages with live blocks: charged to who allocated the "
                    "blocks, by their bytes in the page\n");
    return text;
  }
  absl::StrAppend(&text,
                  "anonymous memory: charged to who allocated blocks in it, as "
                  "estimated from samples\n");
  if (!replay.header().heap_native() && replay.by_scan()) {
    absl::StrAppend(&text,
                    "C code's blocks were not recorded: they are in <allocator "
                    "slack>\n");
  }
  return text;
}

// The blocks alive at a moment; nullptr: there is nothing to report, which has
// been said.
std::unique_ptr<HeapMoments> ReadBlocks(const FoundMoment& at, RereadFile* file,
                                        const TaskStepsReader* tasks,
                                        const Console& console, int* code) {
  auto heap =
      std::make_unique<HeapMoments>(std::vector<HeapMoment>{at.OfBlocks()});
  // Inherited blocks are in the parent's pages, which count as before tracing.
  heap->BeginWithNothing();
  if (tasks != nullptr) heap->TellTasksApart(tasks, /*with_stacks=*/true);
  if (!ReadHeapAgain(file, console, heap.get(), code)) return nullptr;
  return heap;
}

// Reads the moment, the steps of tasks if rows are by task, the pages, and the
// blocks if pages are charged to them. The default for that depends on what the
// reading of pages finds.
int ResidentCommand::Run(const Console& console, OutputBuffer* output) {
  RunReading run(*this, console);
  RereadFile* const file = run.file();
  if (file == nullptr) return run.code();
  if (table_.as_text() && !stacks_.collapsed) file->LeaveLossesToReport();
  const auto finder = run.ReadMoments();
  if (finder == nullptr) return run.code();
  int code = kExitOk;
  const auto at = FindMoment(*finder, at_, file, console, &code);
  if (!at.has_value()) return code;
  ResidentReplay replay(at->UntilUs(), finder->hindsight());
  TaskStepsReader steps(file);
  const bool by_task = by_ == GroupBy::kTask;
  if (by_task) {
    if (!ReadTaskSteps(file, &steps, &code)) return code;
    replay.TellTasksApart(&steps);
  }
  if (!run.Read(&replay)) return run.code();
  std::unique_ptr<HeapMoments> heap;
  // Without blocks what pages are part of is all that is known.
  const bool by_blocks =
      by_blocks_.value_or(replay.by_scan() && by_ != GroupBy::kMapping &&
                          replay.header().heap() != HEAP_OFF);
  ThreadFilter filter(table_.thread, &replay.index());
  const bool unseen = replay.by_scan() && !by_blocks && filter.any();
  if (!run.Has(!replay.by_scan() || by_blocks_ != false,
               "pages were scanned, so who touched them is unknown (--owner "
               "heap shows who allocated them)") ||
      !run.Has(!unseen,
               absl::StrCat("--thread: pages were scanned, so which thread "
                            "touched them is unknown",
                            by_ == GroupBy::kMapping
                                ? "; --by line shows who allocated them"
                                : ""))) {
    return run.code();
  }
  if (by_blocks) {
    heap = ReadBlocks(*at, file, by_task ? &steps : nullptr, console, &code);
    if (heap == nullptr) return code;
  }
  if (!run.HasThread(&filter)) return run.code();
  ThreadFilter* const threads = filter.any() ? &filter : nullptr;
  const std::string heading = Heading(*at, replay, heap.get());
  if (stacks_.any()) {
    if (table_.as_text() && !stacks_.collapsed) output->AppendLines(heading);
    PrintStacks(replay, heap.get(), threads, output);
  } else if (heap != nullptr) {
    code = table_.PrintPlaces(
        heading,
        HeapResidentTable(by_, table_.made_limit(), replay, *heap, threads),
        by_, /*folds=*/true, console, output);
  } else {
    code = table_.PrintPlaces(
        heading, ResidentTable(by_, table_.made_limit(), replay, threads), by_,
        /*folds=*/true, console, output);
  }
  return std::max(code, run.code());
}

}  // namespace

std::unique_ptr<ReportCommand> NewResidentCommand() {
  return std::make_unique<ResidentCommand>();
}

}  // namespace pymemrun
