// The rows of `pymemreport tasks`: a task each, or all tasks of a coroutine.
#ifndef PYMEMRUN_READERS_TASKS_TASK_GROUPS_H_
#define PYMEMRUN_READERS_TASKS_TASK_GROUPS_H_

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

// By task: what it allocated that is alive at the end, and all.
struct TaskHeap {
  HeapSums live, allocated;
};
using TaskHeaps = absl::flat_hash_map<uint32_t, TaskHeap>;

struct TaskRow {
  uint32_t task = 0;  // of several one
  TaskSums sums;
  TaskHeap heap;
};

// Those of the threads that are kept, the first in that order first.
std::vector<TaskRow> TaskRowsOf(const TaskReplay& replay,
                                const TaskHeaps& heaps, ThreadFilter* keep,
                                TaskRows by, TaskOrder order);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TASKS_TASK_GROUPS_H_
