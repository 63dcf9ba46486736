#include "readers/tasks/task_tables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/output/whole_number.h"
#include "readers/places/place.h"

namespace pymemrun {
namespace {

double Seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

Cell SecondsCell(uint64_t ns, TableFormat format) {
  if (format != TableFormat::kText) return Seconds(ns);
  return absl::StrFormat("%.3f", Seconds(ns));
}

Cell TextCell(std::string text) {
  return text.empty() ? Cell() : Cell(std::move(text));
}

std::string CoroutineOf(const TaskReplay& replay, const TaskRow& row) {
  const uint32_t stack = row.of.stack;
  return stack == 0 ? ""
                    : std::string(replay.index().ResolveStack(stack).qualname);
}

// "Task-7 worker", or "worker" of all its tasks.
Cell NameOf(const TaskReplay& replay, const TaskRow& row, TaskRows by) {
  if (by == TaskRows::kTasks) {
    return std::string(replay.names().Label(row.of.task));
  }
  const std::string coroutine = CoroutineOf(replay, row);
  return coroutine.empty() ? std::string("?") : coroutine;
}

// Where the task is at the end.
std::string StateOf(const TaskReplay& replay, const TaskRow& row) {
  const TaskReplay::Task& task = row.of;
  if (task.sums.raised > 0) return "raised";
  if (task.sums.cancelled > 0) return "cancelled";
  if (task.is_done) return "done";
  if (task.runs_at_end) return "runs";
  const std::string line = OwnLine(replay.index(), task.waits_at);
  return line.empty() ? "waits" : absl::StrCat("waits at ", line);
}

std::vector<Table::Heading> Headings(TaskRows by) {
  const bool of_tasks = by == TaskRows::kTasks;
  return {{"task", of_tasks ? "task" : "coroutine", CellLook::kKey},
          {"tasks", "tasks"},
          {"steps", "steps"},
          {"ran_s", "runs s"},
          {"longest_ms", "longest ms"},
          {"longest_at", "in", CellLook::kName},
          {"grown_bytes", "RSS", CellLook::kBytes},
          {"live_bytes", "heap live", CellLook::kBytes},
          {"live_error_bytes", "std error", CellLook::kBytes},
          {"allocated_bytes", "allocated", CellLook::kBytes},
          {"not_done", "not done"},
          {"state", "state", CellLook::kName},
          {"allocated_error_bytes", "", CellLook::kBytes},
          {"longest_begin_s", ""},
          {"longest_task", ""},
          {"blocked_ms", ""},
          {"first_s", ""},
          {"last_s", ""},
          {"name", ""},
          {"coroutine", ""},
          {"file", ""},
          {"first_line", ""},
          {"number", ""},
          {"raised", ""},
          {"cancelled", ""}};
}
// So many are for text, too.
constexpr size_t kForText = 12;

Cell Milliseconds(uint64_t ns, TableFormat format) {
  const double ms = static_cast<double>(ns) / 1e6;
  if (format != TableFormat::kText) return ms;
  return absl::StrFormat("%.1f", ms);
}

void AppendDetails(const TaskReplay& replay, const TaskRow& row, TaskRows by,
                   bool with_errors, TableFormat format,
                   std::vector<Cell>* cells) {
  const TaskSums& sums = row.of.sums;
  const uint32_t stack = row.of.stack;
  const SourceLocation where = replay.index().ResolveStack(stack);
  const bool is_task = by == TaskRows::kTasks;
  cells->push_back(with_errors ? WholeNumber(row.heap.allocated.Error())
                               : Cell());
  cells->push_back(SecondsCell(sums.longest.begin_ns, format));
  cells->push_back(
      TextCell(std::string(replay.names().Label(sums.longest.task))));
  cells->push_back(Milliseconds(sums.longest.blocked_ns, format));
  cells->push_back(SecondsCell(sums.first_ns, format));
  cells->push_back(SecondsCell(sums.last_ns, format));
  cells->push_back(is_task
                       ? TextCell(std::string(replay.names().Name(row.of.task)))
                       : Cell());
  cells->push_back(TextCell(CoroutineOf(replay, row)));
  cells->push_back(stack == 0 ? Cell() : Cell(std::string(where.file)));
  cells->push_back(stack == 0 ? Cell() : Cell(uint64_t{where.first_line}));
  cells->push_back(is_task ? Cell(uint64_t{row.of.task}) : Cell());
  cells->push_back(sums.raised);
  cells->push_back(sums.cancelled);
}

SourceLocation OwnLocation(const RunIndex& index, uint32_t stack) {
  const uint32_t own = index.OwnStack(stack);
  return index.ResolveStack(own != 0 ? own : stack);
}

// Where no line is known, as before a coroutine's first step, its first one.
std::string LineText(const SourceLocation& where) {
  const absl::string_view file =
      where.file.substr(where.file.rfind('/') + 1);  // npos + 1 is 0
  const uint32_t line = where.line != 0 ? where.line : where.first_line;
  return line == 0 ? std::string(file) : absl::StrCat(file, ":", line);
}

}  // namespace

std::string OwnLine(const RunIndex& index, uint32_t stack) {
  return stack == 0 ? "" : LineText(OwnLocation(index, stack));
}

std::string StepPlace(const TaskReplay& replay, const TaskStep& step) {
  const RunIndex& index = replay.index();
  if (step.blocked_stack != 0 && step.blocked_ns >= step.ran_ns / 2) {
    return OwnLine(index, step.blocked_stack);
  }
  const std::string from = OwnLine(index, step.from_stack);
  if (step.is_cut) {
    return absl::StrCat(from, from.empty() ? "" : ", ",
                        "still runs at the end");
  }
  if (step.to_stack == 0) {
    return from.empty() ? "" : absl::StrCat(from, " to its end");
  }
  if (from.empty()) return absl::StrCat("to ", OwnLine(index, step.to_stack));
  const SourceLocation to = OwnLocation(index, step.to_stack);
  return OwnLocation(index, step.from_stack).file == to.file && to.line != 0
             ? absl::StrCat(from, " to :", to.line)
             : absl::StrCat(from, " to ", LineText(to));
}

Table TaskTable(const TaskReplay& replay, const std::vector<TaskRow>& rows,
                TaskRows by, const TaskColumns& columns, TableFormat format) {
  const bool is_task = by == TaskRows::kTasks;
  const bool with_errors = columns.heap && replay.is_estimate();
  Table table;
  table.headings = Headings(by);
  for (const TaskRow& row : rows) {
    const TaskSums& sums = row.of.sums;
    std::vector<Cell> cells = {
        NameOf(replay, row, by),
        is_task && format == TableFormat::kText ? Cell() : Cell(sums.tasks),
        sums.steps,
        SecondsCell(sums.ran_ns, format),
        Milliseconds(sums.longest.ran_ns, format),
        TextCell(StepPlace(replay, sums.longest)),
        columns.rss ? Cell(sums.grown_bytes) : Cell(),
        columns.heap ? Cell(row.heap.live.bytes) : Cell(),
        with_errors ? WholeNumber(row.heap.live.Error()) : Cell(),
        columns.heap ? Cell(row.heap.allocated.bytes) : Cell(),
        is_task && format == TableFormat::kText ? Cell() : Cell(sums.not_done),
        is_task && columns.states ? Cell(StateOf(replay, row)) : Cell()};
    AppendDetails(replay, row, by, with_errors, format, &cells);
    if (format == TableFormat::kText) cells.resize(kForText);
    table.rows.push_back(std::move(cells));
  }
  if (format == TableFormat::kText) table.headings.resize(kForText);
  table.places = table.rows.size();
  return table;
}

}  // namespace pymemrun
