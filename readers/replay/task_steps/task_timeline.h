// Which task a thread ran at a moment.
#ifndef PYMEMRUN_READERS_REPLAY_TASK_STEPS_TASK_TIMELINE_H_
#define PYMEMRUN_READERS_REPLAY_TASK_STEPS_TASK_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pymemrun {

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

#endif  // PYMEMRUN_READERS_REPLAY_TASK_STEPS_TASK_TIMELINE_H_
