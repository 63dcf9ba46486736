#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/table_columns.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/replay/tasks/task_groups.h"
#include "readers/replay/tasks/task_tables.h"
#include "readers/replay/tasks/task_text.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"
#include "readers/run/reread_file.h"

namespace pymemrun {
namespace {

// Three readings. The steps say which task ran when. The heap's reading charges
// blocks to these tasks. TaskReplay then sums up steps, with the heap's sums at
// hand.
class TasksCommand final : public ReportCommand {
 public:
  TasksCommand()
      : ReportCommand(
            "tasks", "which task of asyncio grew, or held the event loop",
            "Shows for each asyncio task how often and how long it ran, and "
            "whether it is done. It shows which step held the event loop "
            "longest, at which line, and how much RSS grew. With heap events "
            "it also shows what each task allocated.\n\nA step is what a task "
            "does from one await to the next. If it waited in a call, the line "
            "of that call is known. Otherwise only the lines of the awaits "
            "before and after the step are known.") {}

  void AddOptions(CLI::App* app) override {
    needs_.Add(Recorded::kTasks);
    files_.AddOne(app);
    AddMoment(app, &at_);
    range_.Add(app);
    table_.Add(app, 20, "A row for each task, or see --by.", "tasks");
    AddChoice(app, "--by", &by_,
              Choices<TaskRows>{{"task", TaskRows::kTasks},
                                {"function", TaskRows::kCoroutines}},
              "WHAT",
              "Group by task (default), or by function: the tasks of each "
              "coroutine function together.");
    AddOrder(app);
    AddTasks(app, &table_.view);
    AddThread(app, &thread_);
    AddOwn(app);
    files_.AddOutput(app);
    // What was allocated is known of the whole run.
    Exclude(app, {"--from", "--to"}, {"--at"});
    Exclude(app, {"--sort heap"}, {"--from", "--to"});
    Exclude(app, {"--by function"}, {"--task"});
    SetUsualOptions(app, {"--by", "--sort", "--limit", "--csv", "--output"});
  }
  std::string Problem() const override {
    return order_ == TaskOrder::kHeap && range_.any()
               ? "--sort heap does not go with --from or --to"
               : "";
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  void AddOrder(CLI::App* app);
  // These return the exit code.
  int PrintText(const TaskReplay& replay, const TaskRowList& rows,
                const std::string& moment, const Console& console,
                OutputBuffer* output) const;
  int PrintRows(const TaskReplay& replay, const TaskRowList& rows,
                bool with_heap, const Console& console,
                OutputBuffer* output) const;

  std::optional<Moment> at_;  // nothing: the peak
  RangeOptions range_;
  TableOptions table_;
  TaskRows by_ = TaskRows::kTasks;
  TaskOrder order_ = TaskOrder::kRan;
  std::string thread_;
};

// The four named orders choose rows while they are collected, which bounds
// memory. Any other column, or an ascending order, needs all rows: it is left
// to TableView.
void TasksCommand::AddOrder(CLI::App* app) {
  const auto parse =
      [this](absl::string_view text) -> absl::StatusOr<TaskOrder> {
    constexpr std::pair<absl::string_view, TaskOrder> kOrders[] = {
        {"time", TaskOrder::kRan},
        {"longest", TaskOrder::kLongest},
        {"grown", TaskOrder::kGrown},
        {"heap", TaskOrder::kHeap}};
    const SortOrder sort = SortOrder::Of(text);
    const auto found = std::find_if(
        std::begin(kOrders), std::end(kOrders),
        [&sort](const auto& order) { return order.first == sort.column; });
    const bool is_order = found != std::end(kOrders);
    // TableView knows these names by sort_names, so an ascending "time" works,
    // too.
    if (!is_order || sort.rises.value_or(false)) {
      table_.view.sort = std::string(text);
    }
    return is_order ? found->second : TaskOrder::kRan;
  };
  table_.view.sort_names = {{"time", "ran_s"},
                            {"longest", "longest_ms"},
                            {"grown", "grown_bytes"},
                            {"heap", "live_bytes"}};
  AddParsed(
      app, "--sort", &order_, parse, "COLUMN",
      "Sort by time (default; of all steps), longest (the longest step), grown "
      "(RSS added), heap (live bytes) or a column of the table.");
}

// What each task or function allocated, and what of it is alive at the moment,
// whose name is `moment`. Returns kExitOk, or why there is nothing to report,
// which has been said.
int ReadHeaps(RereadFile* file, const TaskStepsReader& steps, const Moment& at,
              TaskRows by, ThreadFilter* keep, const Console& console,
              TaskHeaps* heaps, std::string* moment) {
  int code = kExitOk;
  std::vector<HeapMoment> moments = FindHeapMoments({at}, file, console, &code);
  if (moments.empty()) return std::max<int>(code, kExitFailed);
  HeapMoments heap(std::move(moments), /*to_end=*/true);
  const auto counts = [=](const HeapSource& source) {
    // Tasks are of their threads.
    return source.key.task != 0 && source.counts() &&
           (by == TaskRows::kTasks || keep->Keeps(source.key.thread));
  };
  // The model may drop sources without live blocks. What they allocated is
  // added up as they go.
  heap.TellTasksApart(&steps, /*with_stacks=*/false,
                      [=](const HeapSource& gone) {
                        if (counts(gone))
                          heaps->allocated[gone.key.task].Add(gone.allocated);
                      });
  if (!ReadHeapAgain(file, console, &heap, &code)) return code;
  const std::vector<HeapSums> live = heap.SumsAt(0);
  for (size_t i = 0; i < heap.model().sources().size(); ++i) {
    const HeapSource& source = heap.model().sources()[i];
    if (!counts(source)) continue;
    heaps->allocated[source.key.task].Add(source.allocated);
    if (i < live.size() && live[i].recorded != 0) {
      heaps->live[source.key.task].Add(live[i]);
    }
  }
  *moment = MomentText(heap, 0);
  return kExitOk;
}

// The sentences are about all tasks, whatever rows are chosen.
int TasksCommand::PrintText(const TaskReplay& replay, const TaskRowList& rows,
                            const std::string& moment, const Console& console,
                            OutputBuffer* output) const {
  const std::string sentences =
      absl::StrCat(table_.view.tasks.empty() ? "" : "All tasks: ",
                   TaskSentences(replay, rows, moment));
  if (rows.count() == 0) {
    output->AppendLines(absl::StrCat(sentences, "\n"));
    return kExitOk;
  }
  const uint64_t limit = table_.made_limit();
  // Other threads and tasks also change RSS during a step.
  const bool has_heap = !moment.empty();
  const TaskColumns columns = {has_heap, rows.any_not_returned(),
                               !has_heap || order_ == TaskOrder::kGrown};
  Table table =
      TaskTable(replay, rows.Some(0, limit == 0 ? rows.kept() : limit), by_,
                columns, table_.format());
  const auto all = table_.Choose(console, output, &table);
  if (!all.has_value()) return kExitUsage;
  output->AppendLines(absl::StrCat(sentences, "\n"));
  DropEmptyColumns(&table);
  PrintTable(table, table_.format(), output);
  const bool of_tasks = by_ == TaskRows::kTasks;
  output->AppendLines(table_.NotShown(table_.view.any() ? *all : rows.count(),
                                      of_tasks ? "task" : "coroutine",
                                      of_tasks ? "tasks" : "coroutines"));
  return kExitOk;
}

// For machines: a million rows as a table take gigabytes, so they are printed
// in parts. A choice or an order needs the whole table.
int TasksCommand::PrintRows(const TaskReplay& replay, const TaskRowList& rows,
                            bool with_heap, const Console& console,
                            OutputBuffer* output) const {
  constexpr size_t kRows = 1024;
  const auto some = [&](size_t begin, size_t most) {
    return TaskTable(replay, rows.Some(begin, most), by_, {with_heap},
                     table_.format());
  };
  if (table_.view.any()) {
    Table table = some(0, rows.kept());
    if (!table_.Choose(console, output, &table).has_value()) return kExitUsage;
    PrintTable(table, table_.format(), output);
    return kExitOk;
  }
  TableParts parts(table_.format(), output);
  size_t begin = 0;
  do {
    parts.Print(some(begin, kRows));
    begin += kRows;
  } while (begin < rows.kept());
  parts.Finish();
  return kExitOk;
}

int TasksCommand::Run(const Console& console, OutputBuffer* output) {
  RunReading run(*this, console);
  RereadFile* const file = run.file();
  TimeRange range;
  if (!run.Find(range_, &range)) return run.code();
  TaskStepsReader steps(file);
  steps.LeaveNames();
  if (by_ == TaskRows::kCoroutines) steps.TellFunctions();
  ThreadFilter keep(thread_, &file->threads());
  if (!run.Read(&steps) || !run.HasThread(&keep)) return run.code();
  // Text has no such column then.
  if (order_ == TaskOrder::kHeap && table_.as_text() &&
      !file->Has(Recorded::kHeap)) {
    return run.code();
  }
  TaskHeaps heaps;
  std::string moment;  // empty: there are no heap events
  // What was allocated is known of the whole run.
  if (file->recorded().Has(Recorded::kHeap) && !range_.any()) {
    const int code = ReadHeaps(file, steps, at_.value_or(Moment()), by_, &keep,
                               console, &heaps, &moment);
    if (code != kExitOk) return code;
  }
  // Each needs the other: rows the replay's index, the replay a place for its
  // tasks.
  std::optional<TaskRowList> rows;
  TaskReplay replay([&rows](const TaskReplay::Task& task) { rows->Add(task); });
  replay.SetRange(range);
  rows.emplace(TaskRowList::Options{by_, order_, table_.made_limit()}, &heaps,
               &keep, &replay.index());
  if (!run.Read(&replay)) return run.code();
  rows->Finish();
  rows->ReadNames(file, &replay);
  if (range_.any() && rows->count() == 0) {
    SayNotInRange("steps of tasks", thread_, file, console);
    if (table_.as_text()) return run.code();
  }
  const int code =
      table_.as_text()
          ? PrintText(replay, *rows, moment, console, output)
          : PrintRows(replay, *rows, !moment.empty(), console, output);
  return std::max(code, run.code());
}

}  // namespace

std::unique_ptr<ReportCommand> NewTasksCommand() {
  return std::make_unique<TasksCommand>();
}

}  // namespace pymemrun
