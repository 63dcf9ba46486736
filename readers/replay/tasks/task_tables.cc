#include "readers/replay/tasks/task_tables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/output/cells.h"
#include "readers/output/table_columns.h"
#include "readers/output/whole_number.h"
#include "readers/places/place.h"

namespace pymemrun {
namespace {

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

// Where the task is at the end. How it ended says more than that it is done.
std::string StateOf(const TaskReplay& replay, const TaskRow& row) {
  const TaskReplay::Task& task = row.of;
  if (task.sums.raised > 0) return "raised";
  if (task.sums.cancelled > 0) return "cancelled";
  if (task.is_done) return "done";
  if (task.runs_at_end) return "runs";
  const std::string line = OwnLine(replay.index(), task.waits_at);
  return line.empty() ? "waits" : absl::StrCat("waits at ", line);
}

// Columns of text and of files. One that says nothing has empty cells: text
// leaves it out, while CSV and JSON always have the same columns.
TableColumns<TaskRow> MainColumns(const TaskReplay& replay, TaskRows by,
                                  const TaskColumns& shown,
                                  TableFormat format) {
  const bool is_task = by == TaskRows::kTasks;
  // In a row of one task these are 0 or 1: text leaves them out.
  const bool counts = !is_task || format != TableFormat::kText;
  const bool with_errors = shown.heap && replay.is_estimate();
  const TableColumns<TaskRow> columns = {
      {"task", is_task ? "task" : "coroutine", CellLook::kKey,
       [=, &replay](const auto& row) { return NameOf(replay, row, by); }},
      {"tasks", "tasks",
       [=](const auto& row) {
         return counts ? Cell(row.of.sums.tasks) : Cell();
       }},
      {"steps", "steps", [](const auto& row) { return row.of.sums.steps; }},
      {"ran_s", "runs s",
       [=](const auto& row) {
         return SecondsCell(row.of.sums.ran_ns, format);
       }},
      {"longest_ms", "longest ms",
       [=](const auto& row) {
         return MillisecondsCell(row.of.sums.longest.ran_ns, format);
       }},
      {"longest_at", "in", CellLook::kName,
       [&replay](const auto& row) {
         return TextCell(StepPlace(replay, row.of.sums.longest));
       }},
      {"grown_bytes", "RSS", CellLook::kBytes,
       [=](const auto& row) {
         return shown.rss ? Cell(row.of.sums.grown_bytes) : Cell();
       }},
      {"live_bytes", "heap live", CellLook::kBytes,
       [=](const auto& row) {
         return shown.heap ? Cell(row.heap.live.bytes) : Cell();
       }},
      {"live_error_bytes", "std error", CellLook::kBytes,
       [=](const auto& row) {
         return with_errors ? Cell(WholeNumber(row.heap.live.Error())) : Cell();
       }},
      {"allocated_bytes", "allocated", CellLook::kBytes,
       [=](const auto& row) {
         return shown.heap ? Cell(row.heap.allocated.bytes) : Cell();
       }},
      {"not_done", "not done",
       [=](const auto& row) {
         return counts ? Cell(row.of.sums.not_done) : Cell();
       }},
      {"state", "state", CellLook::kName,
       [=, &replay](const auto& row) {
         return is_task && shown.states ? Cell(StateOf(replay, row)) : Cell();
       }},
  };
  return columns;
}

// The columns that only CSV and JSON have.
TableColumns<TaskRow> DetailColumns(const TaskReplay& replay, TaskRows by,
                                    bool with_errors) {
  const bool is_task = by == TaskRows::kTasks;
  const auto seconds = [](uint64_t ns) { return SecondsOfNanos(ns); };
  // The coroutine's code, if it is known.
  const auto of_code = [&replay](const TaskRow& row, auto cell) {
    return row.of.stack == 0
               ? Cell()
               : Cell(cell(replay.index().ResolveStack(row.of.stack)));
  };
  const TableColumns<TaskRow> columns = {
      {"allocated_error_bytes", "", CellLook::kBytes,
       [=](const auto& row) {
         return with_errors ? Cell(WholeNumber(row.heap.allocated.Error()))
                            : Cell();
       }},
      {"longest_begin_s",
       [=](const auto& row) { return seconds(row.of.sums.longest.begin_ns); }},
      {"longest_task",
       [&replay](const auto& row) {
         return TextCell(
             std::string(replay.names().Label(row.of.sums.longest.task)));
       }},
      {"blocked_ms",
       [](const auto& row) {
         return MillisecondsCell(row.of.sums.longest.blocked_ns,
                                 TableFormat::kCsv);
       }},
      {"first_s",
       [=](const auto& row) { return seconds(row.of.sums.first_ns); }},
      {"last_s", [=](const auto& row) { return seconds(row.of.sums.last_ns); }},
      {"name",
       [=, &replay](const auto& row) {
         return is_task
                    ? TextCell(std::string(replay.names().Name(row.of.task)))
                    : Cell();
       }},
      {"coroutine",
       [&replay](const auto& row) {
         return TextCell(CoroutineOf(replay, row));
       }},
      {"file",
       [=](const auto& row) {
         return of_code(row, [](const SourceLocation& where) {
           return std::string(where.file);
         });
       }},
      {"first_line",
       [=](const auto& row) {
         return of_code(row, [](const SourceLocation& where) {
           return uint64_t{where.first_line};
         });
       }},
      {"number",
       [=](const auto& row) {
         return is_task ? Cell(uint64_t{row.of.task}) : Cell();
       }},
      {"raised", [](const auto& row) { return row.of.sums.raised; }},
      {"cancelled", [](const auto& row) { return row.of.sums.cancelled; }},
  };
  return columns;
}

SourceLocation OwnLocation(const RunIndex& index, uint32_t stack) {
  const uint32_t own = index.OwnStack(stack);
  return index.ResolveStack(own != 0 ? own : stack);
}

// Where no line is known, as before a coroutine's first step, the function's
// first line stands in.
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

// A wait within the step that took half of it is the best answer. Otherwise
// only the lines are known at which the step began and ended.
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
  TableColumns<TaskRow> made = MainColumns(replay, by, columns, format);
  if (format != TableFormat::kText) {
    made.Append(
        DetailColumns(replay, by, columns.heap && replay.is_estimate()));
  }
  return made.Make(rows);
}

}  // namespace pymemrun
