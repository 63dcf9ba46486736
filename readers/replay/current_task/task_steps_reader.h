// Finds which task a thread ran at a moment, for reports that charge to tasks.
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

// Reading the run into it finds the names and the longest step. After that
// TaskAt() reads the steps again, in step with the caller's reading. It keeps
// the steps that are no older than the longest one. So memory is bounded if the
// times asked for are nearly ascending. Not thread safe.
class TaskStepsReader : public ReplayVisitor {
 public:
  // `file` must outlive it.
  explicit TaskStepsReader(RereadFile* file);
  ~TaskStepsReader() override;
  // To be called before reading, if at all. LeaveNames(): keeps no names until
  // ReadNames(). TellFunctions(): TaskAt() returns TaskDef.stack, the task's
  // function, instead of the task.
  void LeaveNames() { names_.KeepOnly({}); }
  void TellFunctions() { tells_functions_ = true; }

  HeapUse heap_use() const override { return HeapUse::kNone; }
  bool OnTasks(const TaskEvent* events, size_t count) override;
  void OnTask(const TaskDef& task) override { names_.Add(task); }
  void Finish() override {}

  // REQUIRES, from here on: the file was read.
  //
  // 0: no task. `thread` is its first ThreadDef.id.
  uint32_t TaskAt(uint32_t thread, uint64_t time_us) const;
  size_t steps_kept() const;  // at the moment
  const TaskNames& names() const { return names_; }
  // Reads the names of these tasks. Returns false if the file cannot be read.
  bool ReadNames(absl::flat_hash_set<uint32_t> tasks);

 private:
  RereadFile* const file_;
  bool tells_functions_ = false;
  uint64_t longest_us_ = 0;
  TaskNames names_{&index()};
  mutable std::unique_ptr<StepWindow> window_;
  mutable uint32_t restarts_ = 0;
};

// Reads the steps for --by task. Returns false if there are none, and has
// printed why; *code is then the exit status.
bool ReadTaskSteps(RereadFile* file, TaskStepsReader* steps, int* code);

// Which task a thread ran at a moment. Memory: 24 bytes for each step, and 32
// for each that MakeTurns() has sorted. Not thread safe.
class TaskTimeline {
 public:
  // Adds a step of a thread (its first ThreadDef.id) with its task, or another
  // number that TaskAt() is to return. Of nested steps the innermost counts.
  void Add(uint32_t thread, uint32_t task, uint64_t begin_us, uint64_t end_us);
  // Drops the steps that ended before this time.
  void Forget(uint64_t before_us);
  // Makes all steps added so far known to TaskAt().
  void MakeTurns();

  // 0: no task. Fast if the thread's last time asked for was near.
  uint32_t TaskAt(uint32_t thread, uint64_t time_us) const;
  size_t steps() const { return steps_; }

 private:
  struct Step {
    uint64_t begin_us, end_us;
    uint32_t task;
  };
  // The task that runs from here on, or none.
  struct Turn {
    uint64_t time_us;
    uint32_t task;
  };
  struct Thread {
    std::vector<Step> steps;
    std::vector<Turn> turns;
    mutable size_t last = 0;  // the turn found last
  };
  static void MakeTurnsOf(Thread* thread);

  std::vector<Thread> threads_;  // by id
  std::vector<uint32_t> some_;   // threads with steps
  size_t steps_ = 0;             // number, of all threads
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CURRENT_TASK_TASK_STEPS_READER_H_
