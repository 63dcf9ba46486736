// The part of CheckingVisitor that checks steps of tasks. For tests and the
// fuzzer only.
#ifndef PYMEMRUN_FORMAT_RECORDS_CHECKING_TASKS_H_
#define PYMEMRUN_FORMAT_RECORDS_CHECKING_TASKS_H_

#include "format/limits.h"
#include "format/records/checking_states.h"

namespace pymemrun {

class CheckingTasks : public CheckingStates {
 public:
  explicit CheckingTasks(bool keep_lines) : CheckingStates(keep_lines) {}

  bool OnTasks(const TaskEvent* events, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) OnTaskEvent(events[i]);
    return true;
  }
  void OnTask(const TaskDef& t) override { Keep("task ", t.task()); }
  void OnTaskRecording(const TaskRecording& r) override {
    Keep("task recording ", r.lost());
  }

 protected:
  uint32_t stacks_ = 0;  // defined so far

 private:
  void OnTaskEvent(const TaskEvent& event) {
    Check(TaskAction_IsValid(event.action) && event.task >= 1);
    Check(event.thread >= 1 && event.thread <= threads_);
    Check(event.stack <= stacks_ && event.time_ns <= kMaxTaskNanos);
    Check(event.lasted_ns <= kMaxTaskNanos);
    Check(event.grown_bytes <= kMaxTaskBytes &&
          event.grown_bytes >= -kMaxTaskBytes);
    Keep("task step ", event.time_ns);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_CHECKING_TASKS_H_
