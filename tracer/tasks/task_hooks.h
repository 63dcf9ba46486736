// Steps of tasks (--trace tasks): what is called before and after each.
#ifndef PYMEMRUN_TRACER_TASKS_TASK_HOOKS_H_
#define PYMEMRUN_TRACER_TASKS_TASK_HOOKS_H_

#include <cstdint>

namespace pymemrun {

// Current step of the calling thread. The caller of a step saves and restores
// it by value, because a greenlet may replace the stack in between.
struct TaskThread {
  uint64_t task;    // whose step is under way; 0: none
  uint64_t let_go;  // when the thread let go of the GIL within it; 0: it has it
};
extern constinit thread_local TaskThread t_task;

// GIL, but where it says otherwise.
class TaskHooks {
 public:
  // Steps are to be recorded. Before the first thread; again in a forked child.
  // `calls`: events of calls keep RSS up to date.
  static void Ask(bool tasks, bool calls);
  static bool asked();
  // Steps are recorded from here on. REQUIRES: the side ring is open, and the
  // clocks were compared. A forked child calls it again.
  static void Begin();
  // In a forked child: the step that it was made in is its parent's.
  static void ForgetThread();

  // The calling thread lets go of the GIL, or has just taken it. Under the
  // GIL's own mutex.
  static void LetsGo() {
    if (t_task.task != 0) NoteLettingGo();
  }
  static void Takes() {
    if (t_task.let_go != 0) NoteTaking();
  }

 private:
  static void NoteLettingGo();
  static void NoteTaking();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_TASKS_TASK_HOOKS_H_
