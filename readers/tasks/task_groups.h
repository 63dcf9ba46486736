// The rows of `pymemreport tasks`: a task each, or all tasks of a coroutine.
#ifndef PYMEMRUN_READERS_TASKS_TASK_GROUPS_H_
#define PYMEMRUN_READERS_TASKS_TASK_GROUPS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/heap/heap_source.h"
#include "readers/places/thread_filter.h"
#include "readers/tasks/task_replay.h"

namespace pymemrun {

enum class TaskRows { kTasks, kCoroutines };
enum class TaskOrder { kRan, kLongest, kGrown, kHeap };

// What was allocated, as far as rows tell of it.
struct TaskBytes {
  double bytes = 0, variance = 0;

  void Add(const HeapSums& sums) {
    bytes += sums.bytes;
    variance += sums.bytes_variance;
  }
  void Add(const TaskBytes& other) {
    bytes += other.bytes;
    variance += other.variance;
  }
  // One standard error.
  double Error() const { return std::sqrt(std::fmax(variance, 0)); }
};
struct TaskHeap {
  TaskBytes live, allocated;  // alive at the moment, and all
};
// By task; of rows by function, by StackDef.id of the function.
using TaskHeaps = absl::flat_hash_map<uint32_t, TaskHeap>;

struct TaskRow {
  uint32_t task = 0;  // of several one
  TaskSums sums;
  TaskHeap heap;
};

// Rows in an order, each made when it is asked for: of a million tasks they
// take little memory. Not thread safe.
class TaskRowList {
 public:
  // Those of the threads that are kept. All must outlive it. Of functions
  // `heaps` has the threads that are kept.
  TaskRowList(const TaskReplay& replay, const TaskHeaps& heaps,
              ThreadFilter* keep, TaskRows by, TaskOrder order);

  size_t size() const { return order_.size(); }
  bool empty() const { return order_.empty(); }
  TaskRows by() const { return by_; }
  TaskRow operator[](size_t i) const;
  // A task did not return: it is not done, or ended otherwise.
  bool any_not_returned() const { return any_not_returned_; }
  // From `begin` on, at most so many.
  std::vector<TaskRow> Some(size_t begin, size_t most) const;

 private:
  struct Place {
    double amount;
    uint32_t task;   // of several one
    uint32_t group;  // of groups_
  };
  void AddGroups(ThreadFilter* keep);
  TaskRow RowOf(uint32_t task, const TaskReplay::Task& of) const;

  const TaskReplay& replay_;
  const TaskHeaps& heaps_;
  const TaskRows by_;
  std::vector<TaskRow> groups_;  // of functions
  std::vector<Place> order_;
  bool any_not_returned_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TASKS_TASK_GROUPS_H_
