#include "readers/replay/tasks/task_groups.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace pymemrun {
namespace {

// What rows are ordered by: the largest comes first.
double Amount(const TaskRow& row, TaskOrder order) {
  switch (order) {
    case TaskOrder::kLongest:
      return static_cast<double>(row.of.sums.longest.SureNs());
    case TaskOrder::kGrown:
      return static_cast<double>(row.of.sums.grown_bytes);
    case TaskOrder::kHeap:
      return row.heap.live.bytes;
    default:
      return static_cast<double>(row.of.sums.ran_ns);
  }
}

// Sums up tasks of one function. The row has the least of their numbers, so
// that it does not depend on the order of adding.
void AddTo(const TaskRow& row, TaskRow* sum) {
  const bool is_new = sum->of.sums.steps == 0;
  if (is_new) sum->of.stack = row.of.stack;
  if (is_new || row.of.task < sum->of.task) sum->of.task = row.of.task;
  sum->of.sums.Add(row.of.sums);
  sum->heap.Add(row.heap);
}

}  // namespace

bool TaskRowList::IsBefore(const TaskRow& a, const TaskRow& b) const {
  const double of_a = Amount(a, options_.order);
  const double of_b = Amount(b, options_.order);
  return of_a != of_b ? of_a > of_b : a.of.task < b.of.task;
}

// A run may have millions of tasks. So a task is a row only if it is among the
// first ones, but it is always part of its function's sums.
void TaskRowList::Add(const TaskReplay::Task& task) {
  if (!keep_.Keeps(task.thread)) return;
  all_.Add(task.sums);
  TaskRow row;
  row.of = task;
  if (by() == TaskRows::kTasks) {
    ++count_;
    const auto allocated = heaps_.allocated.find(task.task);
    if (allocated != heaps_.allocated.end()) {
      row.heap.allocated = allocated->second;
    }
    const auto live = heaps_.live.find(task.task);
    if (live != heaps_.live.end()) {
      row.heap.live = alive_[task.task] = live->second;
      NoteAlive(row);
    }
    Keep(row);
  }
  AddTo(row, &by_stack_[task.stack]);
}

// rows_ is a heap whose front is the last of the kept rows. A better row
// replaces it: logarithmic time in `most`.
void TaskRowList::Keep(const TaskRow& row) {
  const auto is_before = [this](const TaskRow& a, const TaskRow& b) {
    return IsBefore(a, b);
  };
  if (options_.most == 0) {
    rows_.push_back(row);
    return;
  }
  if (rows_.size() == options_.most) {
    if (!IsBefore(row, rows_.front())) return;
    std::pop_heap(rows_.begin(), rows_.end(), is_before);
    rows_.pop_back();
  }
  rows_.push_back(row);
  std::push_heap(rows_.begin(), rows_.end(), is_before);
}

void TaskRowList::NoteAlive(const TaskRow& row) {
  const double most = most_alive_.heap.live.bytes;
  const double live = row.heap.live.bytes;
  if (live > most || (live == most && IsBefore(row, most_alive_))) {
    most_alive_ = row;
  }
}

void TaskRowList::Finish() {
  MakeFunctions();
  if (by() == TaskRows::kCoroutines) {
    rows_.assign(functions_.begin(), functions_.end());
    count_ = rows_.size();
    for (const TaskRow& row : functions_) NoteAlive(row);
  }
  std::sort(
      rows_.begin(), rows_.end(),
      [this](const TaskRow& a, const TaskRow& b) { return IsBefore(a, b); });
}

// Joins the sums of one function: it may have several definitions, and stacks
// of each.
void TaskRowList::MakeFunctions() {
  using Function = std::tuple<absl::string_view, uint32_t, absl::string_view>;
  std::map<Function, TaskRow> functions;
  const auto function_of = [this](uint32_t stack) {
    const SourceLocation where = index_.ResolveStack(stack);
    return Function(where.file, where.first_line, where.qualname);
  };
  for (const auto& [stack, row] : by_stack_) {
    AddTo(row, &functions[function_of(stack)]);
  }
  by_stack_.clear();
  if (by() == TaskRows::kCoroutines) {
    const auto add = [&](const auto& heaps, TaskBytes TaskHeap::*part) {
      for (const auto& [stack, bytes] : heaps) {
        const auto found = functions.find(function_of(stack));
        if (found != functions.end()) (found->second.heap.*part).Add(bytes);
      }
    };
    add(heaps_.live, &TaskHeap::live);
    add(heaps_.allocated, &TaskHeap::allocated);
  }
  for (auto& [function, row] : functions) functions_.push_back(row);
}

std::vector<TaskRow> TaskRowList::Some(size_t begin, size_t most) const {
  std::vector<TaskRow> rows;
  for (size_t i = begin; i < kept() && rows.size() < most; ++i) {
    rows.push_back(rows_[i]);
  }
  return rows;
}

// Compares with each other task that has something alive, and with 0 if a task
// has nothing.
bool TaskRowList::IsMostForSure() const {
  const TaskBytes& most = most_alive_.heap.live;
  const auto is_close = [&most](const TaskBytes& live) {
    return most.bytes - live.bytes <= std::hypot(most.Error(), live.Error());
  };
  // The other tasks have nothing alive.
  if (alive_.size() < count_ && is_close({})) return false;
  return std::none_of(alive_.begin(), alive_.end(), [&](const auto& one) {
    return one.first != most_alive_.of.task && is_close(one.second);
  });
}

const TaskRow& TaskRowList::MostAliveFunction() const {
  return *std::max_element(functions_.begin(), functions_.end(),
                           [](const TaskRow& a, const TaskRow& b) {
                             return a.heap.live.bytes < b.heap.live.bytes;
                           });
}

absl::flat_hash_set<uint32_t> TaskRowList::Named() const {
  absl::flat_hash_set<uint32_t> named = {most_alive_.of.task};
  const auto add = [&named](const TaskSums& sums) {
    named.insert({sums.longest.task, sums.most_grown_task});
  };
  add(all_);
  for (const TaskRow& row : rows_) {
    named.insert(row.of.task);
    add(row.of.sums);
  }
  return named;
}

// The replay keeps the names of the first tasks only. If some are missing, the
// file is read again for the names that are shown.
void TaskRowList::ReadNames(RereadFile* file, TaskReplay* replay) const {
  if (!replay->names().any_lost()) return;
  auto names = std::make_unique<TaskNames>(&replay->index());
  if (kept() < count_ || by() == TaskRows::kCoroutines) {
    names->KeepOnly(Named());
  }
  if (pymemrun::ReadNames(file, names.get())) replay->TakeNames(std::move(names));
}

}  // namespace pymemrun
