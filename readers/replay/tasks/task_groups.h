// The rows of `pymemreport tasks`: a task each, or all tasks of a coroutine.
#ifndef PYMEMRUN_READERS_REPLAY_TASKS_TASK_GROUPS_H_
#define PYMEMRUN_READERS_REPLAY_TASKS_TASK_GROUPS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/heap/heap_source.h"
#include "readers/replay/tasks/task_replay.h"
#include "readers/run/reread_file.h"

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

  void Add(const TaskHeap& other) {
    live.Add(other.live);
    allocated.Add(other.allocated);
  }
};
// By task; of rows by function, by StackDef.id of the function. Few tasks have
// something alive at a moment.
struct TaskHeaps {
  absl::btree_map<uint32_t, TaskBytes> live, allocated;
};

struct TaskRow {
  TaskReplay::Task of;  // of a coroutine one of its tasks, with the sums of all
  TaskHeap heap;
};

// Rows in an order. Memory is linear in the rows that are kept, and in the
// tasks that allocated: 25 bytes for each. Not thread safe.
class TaskRowList {
 public:
  struct Options {
    TaskRows by = TaskRows::kTasks;
    TaskOrder order = TaskOrder::kRan;
    size_t most = 0;  // rows of tasks that are kept, the first ones; 0: all
  };
  // All must outlive it. Rows are of the threads that are kept, and so are
  // `heaps` of functions. `index` is the one of the replay.
  TaskRowList(const Options& options, const TaskHeaps* heaps,
              ThreadFilter* keep, const RunIndex* index)
      : options_(options), heaps_(*heaps), keep_(*keep), index_(*index) {}

  void Add(const TaskReplay::Task& task);
  // All were added.
  void Finish();

  // REQUIRES, from here on: Finish() was called.
  TaskRows by() const { return options_.by; }
  uint64_t count() const { return count_; }  // with those that are not kept
  // At most `most` of the kept rows, from `begin` on.
  std::vector<TaskRow> Some(size_t begin, size_t most) const;
  size_t kept() const { return rows_.size(); }
  const TaskSums& all() const { return all_; }
  // A task did not return: it is not done, or ended otherwise.
  bool any_not_returned() const {
    return all_.not_done + all_.raised + all_.cancelled > 0;
  }
  // What has most alive. Null: nothing has any.
  const TaskRow* most_alive() const {
    return most_alive_.heap.live.bytes > 0 ? &most_alive_ : nullptr;
  }
  // Whether it has more than the next one by more than the errors of both.
  bool IsMostForSure() const;
  // The coroutine whose tasks have most alive together. REQUIRES: any row.
  const TaskRow& MostAliveFunction() const;
  // Reads the names that rows and sums have, where the replay has not all.
  void ReadNames(RereadFile* file, TaskReplay* replay) const;

 private:
  bool IsBefore(const TaskRow& a, const TaskRow& b) const;
  void Keep(const TaskRow& row);
  void MakeFunctions();
  void NoteAlive(const TaskRow& row);
  absl::flat_hash_set<uint32_t> Named() const;

  const Options options_;
  const TaskHeaps& heaps_;
  ThreadFilter& keep_;
  const RunIndex& index_;
  TaskSums all_;
  uint64_t count_ = 0;
  absl::btree_map<uint32_t, TaskRow> by_stack_;  // of functions
  std::vector<TaskRow> functions_;
  std::deque<TaskRow> rows_;  // a heap with the last one first, until Finish()
  absl::flat_hash_map<uint32_t, TaskBytes> alive_;  // of tasks with rows
  TaskRow most_alive_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_TASKS_TASK_GROUPS_H_
