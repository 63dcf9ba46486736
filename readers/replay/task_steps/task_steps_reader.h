// Tells which task a thread ran when, for reports that charge to tasks.
#ifndef PYMEMRUN_READERS_REPLAY_TASK_STEPS_TASK_STEPS_READER_H_
#define PYMEMRUN_READERS_REPLAY_TASK_STEPS_TASK_STEPS_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "format/tasks/task_event.h"
#include "readers/replay/task_steps/task_names.h"
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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_TASK_STEPS_TASK_STEPS_READER_H_
