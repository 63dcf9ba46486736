#include "readers/tasks/task_groups.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace pymemrun {
namespace {

double Amount(const TaskRow& row, TaskOrder order) {
  switch (order) {
    case TaskOrder::kLongest:
      return static_cast<double>(row.sums.longest.SureNs());
    case TaskOrder::kGrown:
      return static_cast<double>(row.sums.grown_bytes);
    case TaskOrder::kHeap:
      return row.heap.live.bytes;
    default:
      return static_cast<double>(row.sums.ran_ns);
  }
}

}  // namespace

void TaskRowList::AddGroups(ThreadFilter* keep) {
  using Function = std::tuple<absl::string_view, uint32_t, absl::string_view>;
  std::map<Function, size_t> places;
  const auto function_of = [&](uint32_t stack) {
    const SourceLocation where = replay_.index().ResolveStack(stack);
    return Function(where.file, where.first_line, where.qualname);
  };
  const auto add = [&](uint32_t stack, uint32_t thread, uint32_t task,
                       const TaskSums& sums) {
    if (sums.steps == 0 || !keep->Keeps(thread)) return;
    const auto [found, is_new] =
        places.try_emplace(function_of(stack), groups_.size());
    if (is_new) groups_.emplace_back();
    TaskRow& group = groups_[found->second];
    if (is_new) group.task = task;
    group.sums.Add(sums);
  };
  for (const auto& [key, sums] : replay_.done()) {
    add(key.first, key.second, sums.longest.task, sums);
  }
  for (const auto& [id, task] : replay_.tasks()) {
    add(replay_.names().Stack(id), task.thread, id, task.sums);
  }
  for (const auto& [stack, heap] : heaps_) {
    const auto found = places.find(function_of(stack));
    if (found == places.end()) continue;  // no step of it is known
    TaskRow& group = groups_[found->second];
    group.heap.live.Add(heap.live);
    group.heap.allocated.Add(heap.allocated);
  }
}

TaskRowList::TaskRowList(const TaskReplay& replay, const TaskHeaps& heaps,
                         ThreadFilter* keep, TaskRows by, TaskOrder order)
    : replay_(replay), heaps_(heaps), by_(by) {
  if (by == TaskRows::kCoroutines) {
    AddGroups(keep);
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      order_.push_back({Amount(groups_[i], order), groups_[i].task, i});
    }
  } else {
    for (const auto& [id, task] : replay.tasks()) {
      if (task.sums.steps == 0 || !keep->Keeps(task.thread)) continue;
      order_.push_back({Amount(RowOf(id, task), order), id, 0});
      any_not_returned_ |=
          task.sums.not_done + task.sums.raised + task.sums.cancelled > 0;
    }
  }
  // Not by std::stable_sort, which takes as much memory again.
  std::sort(order_.begin(), order_.end(), [](const Place& a, const Place& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.task < b.task;
  });
}

TaskRow TaskRowList::RowOf(uint32_t task, const TaskReplay::Task& of) const {
  TaskRow row;
  row.task = task;
  row.sums = of.sums;
  const auto heap = heaps_.find(task);
  if (heap != heaps_.end()) row.heap = heap->second;
  return row;
}

TaskRow TaskRowList::operator[](size_t i) const {
  const Place& place = order_[i];
  if (by_ == TaskRows::kCoroutines) return groups_[place.group];
  return RowOf(place.task, replay_.tasks().at(place.task));
}

std::vector<TaskRow> TaskRowList::Some(size_t begin, size_t most) const {
  std::vector<TaskRow> rows;
  for (size_t i = begin; i < size() && rows.size() < most; ++i) {
    rows.push_back((*this)[i]);
  }
  return rows;
}

}  // namespace pymemrun
