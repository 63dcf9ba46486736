// Which task a thread ran at a moment.
#ifndef PYMEMRUN_READERS_TASK_STEPS_TASK_TIMELINE_H_
#define PYMEMRUN_READERS_TASK_STEPS_TASK_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/tasks/task_event.h"
#include "readers/run/replay_visitor.h"
#include "readers/run/reread_file.h"
#include "readers/task_steps/heap_times.h"
#include "readers/task_steps/task_names.h"

namespace pymemrun {

// Memory: some 40 bytes for each step. Not thread safe.
class TaskTimeline {
 public:
  // Adds a step of a thread, by its first ThreadDef.id. Of steps that lie
  // within one another the inner one counts.
  void Add(uint32_t thread, const TaskEvent& step);
  // All were added.
  void Finish();

  // 0: none. Fast where the thread was asked for a time near by before.
  // REQUIRES: Finish() was called.
  uint32_t TaskAt(uint32_t thread, uint64_t time_us) const;
  bool empty() const { return threads_.empty(); }

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
  static void MakeTurns(Thread* thread);

  std::vector<Thread> threads_;  // by id
};

// Reads the steps of a run. Not thread safe.
class TaskTimelineReader final : public ReplayVisitor {
 public:
  // Keeps the steps alone in which something was allocated. `times` must live
  // until the steps were read.
  void OnlyAt(const HeapTimes* times) { times_ = times; }

  HeapUse heap_use() const override { return HeapUse::kNone; }
  bool OnTasks(const TaskEvent* events, size_t count) override;
  void OnTaskRecording(const TaskRecording&) override { has_tasks_ = true; }
  void OnTask(const TaskDef& task) override { names_.Add(task); }
  void Finish() override { timeline_.Finish(); }

  bool has_tasks() const { return has_tasks_; }
  const TaskTimeline& timeline() const { return timeline_; }
  const TaskNames& names() const { return names_; }

 private:
  const HeapTimes* times_ = nullptr;
  TaskTimeline timeline_;
  TaskNames names_{&index()};
  bool has_tasks_ = false;
};

// For --by task. False: there are none, which has been said; *code is what the
// program is to exit with.
bool ReadTaskSteps(RereadFile* file, const Console& console,
                   TaskTimelineReader* steps, int* code);
// The same of steps that are asked who allocated, and nothing else.
bool ReadAllocatingSteps(RereadFile* file, const Console& console,
                         TaskTimelineReader* steps, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TASK_STEPS_TASK_TIMELINE_H_
