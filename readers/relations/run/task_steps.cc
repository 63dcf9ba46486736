#include <iterator>

#include "readers/relations/run/event_cursor.h"
#include "readers/relations/run/run_relations.h"

namespace pymemrun {
namespace {

// A step is a row at its end. Steps of nested tasks precede the step around
// them.
class StepCursor final : public EventCursor<TaskEvent> {
 public:
  using EventCursor::EventCursor;
  bool OnTasks(const TaskEvent* events, size_t count) override {
    return Take(events, count);
  }
};

RelationValue NameOf(TaskAction action) {
  static constexpr absl::string_view kNames[] = {
      "waits", "done", "blocked", "runs", "raised", "cancelled"};
  const auto index = static_cast<size_t>(action);
  return index < std::size(kNames) ? kNames[index] : RelationValue();
}

using StepRow = EventRow<TaskEvent>;
constexpr ColumnOf<StepRow> kStepColumns[] = {
    {"clock_s", kSeconds, "when it ended, since the run began",
     [](const StepRow& row) { return SecondsOfNs(row.of.time_ns); }},
    {"lasted_s", kSeconds, "how long it took",
     [](const StepRow& row) { return SecondsOfNs(row.of.lasted_ns); }},
    {"action", kText, "waits, done, blocked, runs, raised, cancelled",
     [](const StepRow& row) { return NameOf(row.of.action); }},
    {"task", kInteger, "an id of tasks",
     [](const StepRow& row) { return IntegerOrNot(row.of.task); }},
    {"name", kText, "the task's last name",
     [](const StepRow& row) {
       return TextOrNot(row.run.TaskName(row.of.task));
     }},
    {"grown_bytes", kBytes, "how much RSS grew in the step",
     [](const StepRow& row) {
       return RelationValue(int64_t{row.of.grown_bytes});
     }},
    {"thread", kText, "name#id",
     [](const StepRow& row) { return row.Thread(row.of.thread); }},
    {"file", kText, "where it ended",
     [](const StepRow& row) { return row.File(row.of.stack); }},
    {"line", kInteger, "where it ended",
     [](const StepRow& row) { return row.Line(row.of.stack); }},
    {"function", kText, "where it ended",
     [](const StepRow& row) { return row.Function(row.of.stack); }},
    {"stack", kInteger, "an id of stacks",
     [](const StepRow& row) { return IntegerOrNot(row.of.stack); }}};

}  // namespace

std::unique_ptr<Relation> TaskStepsRelation(const RelationRun* run) {
  return MakeEventRelation<StepCursor>(
      {"task_steps",
       "a step of a task, or a call in it that did not let others run",
       kStepColumns},
      run, Recorded::kTasks);
}

}  // namespace pymemrun
