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

std::vector<TaskRow> TaskRowsOf(const TaskReplay& replay,
                                const TaskHeaps& heaps, ThreadFilter* keep,
                                TaskRows by, TaskOrder order) {
  std::vector<TaskRow> rows;
  if (by == TaskRows::kTasks) rows.reserve(replay.tasks().size());
  using Coroutine = std::tuple<absl::string_view, uint32_t, absl::string_view>;
  std::map<Coroutine, size_t> places;
  for (const auto& [id, task] : replay.tasks()) {
    if (task.sums.steps == 0 || !keep->Keeps(task.thread)) continue;
    const SourceLocation where =
        replay.index().ResolveStack(replay.names().Stack(id));
    size_t place = rows.size();
    if (by == TaskRows::kCoroutines) {
      place = places
                  .try_emplace({where.file, where.first_line, where.qualname},
                               rows.size())
                  .first->second;
    }
    if (place == rows.size()) {
      rows.emplace_back();
      rows.back().task = id;
    }
    rows[place].sums.Add(task.sums);
    const auto heap = heaps.find(id);
    if (heap == heaps.end()) continue;
    rows[place].heap.live.Add(heap->second.live);
    rows[place].heap.allocated.Add(heap->second.allocated);
  }
  // Not by std::stable_sort, which takes as much memory again.
  std::sort(rows.begin(), rows.end(),
            [order](const TaskRow& a, const TaskRow& b) {
              const double left = Amount(a, order), right = Amount(b, order);
              return left != right ? left > right : a.task < b.task;
            });
  return rows;
}

}  // namespace pymemrun
