// Tells which task a thread ran when, for reports that charge to tasks.
#ifndef PYMEMRUN_READERS_REPLAY_CURRENT_TASK_TASK_STEPS_READER_H_
#define PYMEMRUN_READERS_REPLAY_CURRENT_TASK_TASK_STEPS_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "format/timed/timed_events.h"
#include "readers/replay/current_task/task_names.h"
#include "readers/run/replay_visitor.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

class StepWindow;

// A first reading of the run finds the names and the longest step. Then
// TaskAt() reads the steps once more, beside who asks, and keeps those that lie
// within the time of the longest one. So memory is bounded where times are
// asked for in their order, or nearly so. Not thread safe.
class TaskStepsReader : public ReplayVisitor {
 public:
  // `file` must outlive it.
  explicit TaskStepsReader(RereadFile* file);
  ~TaskStepsReader() override;
  // To be called first, if at all: names are left for ReadNames(), and what
  // TaskAt() tells is TaskDef.stack, the task's function, instead of the task.
  void LeaveNames() { names_.KeepOnly({}); }
  void TellFunctions() { tells_functions_ = true; }

  HeapUse heap_use() const override { return HeapUse::kNone; }
  bool OnTasks(const TaskEvent* events, size_t count) override;
  void OnTask(const TaskDef& task) override { names_.Add(task); }
  void Finish() override {}

  // The rest REQUIRES that the file was read.
  // 0: none. `thread`: its first ThreadDef.id.
  uint32_t TaskAt(uint32_t thread, uint64_t time_us) const;
  size_t steps_kept() const;  // now
  const TaskNames& names() const { return names_; }
  // Those of these tasks alone. False: the file cannot be read.
  bool ReadNames(absl::flat_hash_set<uint32_t> tasks);

 private:
  RereadFile* const file_;
  bool tells_functions_ = false;
  uint64_t longest_us_ = 0;
  TaskNames names_{&index()};
  mutable std::unique_ptr<StepWindow> window_;
  mutable uint32_t restarts_ = 0;
};

// For --by task. False: there are none, which has been said; *code is what the
// program is to exit with.
bool ReadTaskSteps(RereadFile* file, TaskStepsReader* steps, int* code);

// Which task a thread ran at a moment.

// Memory: 24 bytes for each step, 32 for each at which turns were made. Not
// thread safe.
class TaskTimeline {
 public:
  // Adds a step of a thread, by its first ThreadDef.id: a task, or what else is
  // to be told of it, from when to when. Of steps that lie within one another
  // the inner one counts.
  void Add(uint32_t thread, uint32_t task, uint64_t begin_us, uint64_t end_us);
  // Leaves out the steps that ended before.
  void Forget(uint64_t before_us);
  // After that TaskAt() knows of all that were added and not forgotten.
  void MakeTurns();

  // 0: none. Fast where the thread was asked for a time near by before.
  uint32_t TaskAt(uint32_t thread, uint64_t time_us) const;
  size_t steps() const { return steps_; }

 private:
  struct Step {
    uint64_t begin_us, end_us;
    uint32_t task;
  };
  // From here on the task runs, or none.
  struct Turn {
    uint64_t time_us;
    uint32_t task;
  };
  struct Thread {
    std::vector<Step> steps;
    std::vector<Turn> turns;
    mutable size_t last = 0;  // of turns: what was found last
  };
  static void MakeTurnsOf(Thread* thread);

  std::vector<Thread> threads_;  // by id
  std::vector<uint32_t> some_;   // those with steps
  size_t steps_ = 0;             // of all threads
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CURRENT_TASK_TASK_STEPS_READER_H_
