// A run's steps of tasks, summed up by task.
#ifndef PYMEMRUN_READERS_REPLAY_TASKS_TASK_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_TASKS_TASK_REPLAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "readers/places/time_range.h"
#include "readers/replay/current_task/task_names.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// One step of a task.
struct TaskStep {
  uint32_t task = 0;
  uint32_t thread = 0;  // its first ThreadDef.id
  uint64_t begin_ns = 0;
  uint64_t ran_ns = 0;  // without the steps within it
  // StackDef.ids. From: where the task had waited before, or its function if it
  // starts with this step. To: where it waits next; 0: it is done.
  uint32_t from_stack = 0, to_stack = 0;
  // The longest time without the GIL within it, and where that was; 0: none.
  uint64_t blocked_ns = 0;
  uint32_t blocked_stack = 0;
  // Tasks of the same thread that had begun and were not done.
  uint64_t others = 0;
  // The run ended within it.
  bool is_cut = false;

  // The least time that it took: when a program was killed is known less
  // exactly.
  uint64_t SureNs() const {
    constexpr uint64_t kEndUnsureNs = 50000000;
    return is_cut ? ran_ns - std::min(ran_ns, kEndUnsureNs) : ran_ns;
  }
};

// What one task came to, or several.
struct TaskSums {
  uint64_t steps = 0, ran_ns = 0;
  uint64_t first_ns = 0, last_ns = 0;
  int64_t grown_bytes = 0;
  TaskStep longest;
  uint32_t most_grown_task = 0;  // the task that grew most
  int64_t most_grown_bytes = 0;
  uint64_t tasks = 0, not_done = 0;
  uint64_t raised = 0, cancelled = 0;  // of those that are done

  void Add(const TaskSums& other);
};

// Time is linear in the file. Memory is linear in the tasks that were not done
// at the same time. Not thread safe.
class TaskReplay final : public ReplayVisitor {
 public:
  struct Task {
    uint32_t task = 0;
    uint32_t stack = 0;  // StackDef.id of its coroutine's function; 0: unknown
    uint32_t thread = 0;
    uint32_t waits_at = 0;  // StackDef.id; 0: it runs, or is done
    bool has_begun = false, is_done = false;
    bool runs_at_end = false;  // within a step when the run ended
    TaskSums sums;
  };

  // Each task that did something in the range is handed over once: when it is
  // done, or the run ends.
  explicit TaskReplay(std::function<void(const Task&)> hand_over)
      : hand_over_(std::move(hand_over)) {}
  // To be called first, if at all: sums are of this part of the time, and so is
  // who was done.
  void SetRange(const TimeRange& range) { range_ = range; }

  HeapUse heap_use() const override { return HeapUse::kNone; }
  void OnHeader(const Header& header) override {
    is_estimate_ = header.heap() == HEAP_SAMPLED;
  }
  void OnTask(const TaskDef& task) override;
  void OnTaskRecording(const TaskRecording& recording) override {
    has_tasks_ = true;
    lost_ = recording.lost();
  }
  bool OnTasks(const TaskEvent* events, size_t count) override;
  void OnFooter(const Footer& footer) override;
  void Finish() override;

  bool has_tasks() const { return has_tasks_; }
  // Allocations are estimated from samples.
  bool is_estimate() const { return is_estimate_; }
  uint64_t lost() const { return lost_; }
  uint64_t end_ns() const { return end_ns_; }
  // What tasks are called, unless there are very many.
  const TaskNames& names() const { return *names_; }
  // Names of those tasks that are needed.
  void TakeNames(std::unique_ptr<TaskNames> names) {
    names_ = std::move(names);
  }

 private:
  // A step that may be within one that has not ended.
  struct Ended {
    uint64_t begin_ns, lasted_ns;
    int64_t grown_bytes;
  };
  struct Thread {
    std::deque<Ended> ended;
    uint64_t under_way = 0;  // tasks that have begun and are not done
  };
  struct Blocked {
    uint64_t lasted_ns = 0, sum_ns = 0;
    uint32_t stack = 0;
  };
  // Steps within one step that are remembered.
  static constexpr size_t kMostWithin = 4096;
  static constexpr size_t kNamesAtOnce = size_t{1} << 16;

  void Take(const TaskEvent& event);
  void TakeBlocked(const TaskEvent& event);
  void AddStep(const TaskEvent& event, TaskStep step, int64_t grown_bytes,
               TaskSums* sums);
  void AddBlocked(uint32_t task, TaskStep* step);
  void EndTask(const TaskEvent& event, Thread* thread, Task* task);
  void HandOver(const Task& task) const;
  void TakeWithin(const TaskEvent& event, Thread* thread, TaskStep* step,
                  int64_t* grown_bytes);

  TimeRange range_;
  bool has_tasks_ = false, is_estimate_ = false;
  uint64_t lost_ = 0, end_ns_ = 0;
  const std::function<void(const Task&)> hand_over_;
  std::unique_ptr<TaskNames> names_ =
      std::make_unique<TaskNames>(&index(), kNamesAtOnce);
  absl::btree_map<uint32_t, Task> tasks_;  // that are not done
  absl::flat_hash_map<uint32_t, Thread> threads_;
  absl::flat_hash_map<uint32_t, Blocked> blocked_;  // by task
  absl::flat_hash_set<uint32_t> hubs_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_TASKS_TASK_REPLAY_H_
