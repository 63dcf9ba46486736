// What steps of tasks and of greenlets are told by alike: names, and RSS.
#ifndef PYMEMRUN_TRACER_TASKS_STEP_ITEMS_H_
#define PYMEMRUN_TRACER_TASKS_STEP_ITEMS_H_

#include <Python.h>

#include <cstdint>

namespace pymemrun {

// GIL.
class StepItems {
 public:
  // `calls`: events of calls keep RSS up to date.
  static void Ask(bool calls);
  // RSS at the time stamp, or up to 50 us before.
  static uint64_t RssBytes(uint64_t stamp);

  // The collector has the name that the task has now. `coroutine` is its own.
  static void TellTask(PyObject* task, PyObject* coroutine);
  // The same of a greenlet that it does not know; `code` is what it runs, null:
  // that is not known.
  static void TellGreenlet(const PyObject* greenlet, const void* code);
  // Whether one of these was recorded for the task.
  static bool Knows(const PyObject* task);
  // It is done: its address may become another's.
  static void Forget(const PyObject* task);
  // In a forked child.
  static void ForgetAll();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_TASKS_STEP_ITEMS_H_
