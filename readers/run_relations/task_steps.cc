#include <iterator>

#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

class TaskSteps final : public EventCursor<TaskEvent> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "task_steps";
  static constexpr char kAbout[] =
      "a step of a task, or a call in it that did not let others run";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds,
       "when it ended, since the run began"},
      {"lasted_s", ValueKind::kReal, Unit::kSeconds, "how long it took"},
      {"action", ValueKind::kText, Unit::kNone,
       "waits, done, blocked, runs, raised, cancelled"},
      {"task", ValueKind::kInteger, Unit::kNone, "an id of tasks"},
      {"name", ValueKind::kText, Unit::kNone, "the task's last one"},
      {"grown_bytes", ValueKind::kInteger, Unit::kBytes,
       "what RSS grew by in it"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"},
      {"file", ValueKind::kText, Unit::kNone, "where it ended"},
      {"line", ValueKind::kInteger, Unit::kNone, "where it ended"},
      {"function", ValueKind::kText, Unit::kNone, "where it ended"},
      {"stack", ValueKind::kInteger, Unit::kNone, "an id of stacks"}};
  static std::string Missing(const RelationRun& run) {
    return run.has_tasks()
               ? ""
               : "has no steps of tasks: it was not made with --trace tasks";
  }

  bool OnTasks(const TaskEvent* events, size_t count) override {
    Take(events, count);
    return true;
  }
  RelationValue At(int column) override {
    const TaskEvent& of = event();
    switch (column) {
      case 0:
        return SecondsOfNs(of.time_ns);
      case 1:
        return SecondsOfNs(of.lasted_ns);
      case 2:
        return NameOf(of.action);
      case 3:
        return IntegerOrNot(of.task);
      case 4:
        return TextOrNot(run().TaskName(of.task));
      case 5:
        return int64_t{of.grown_bytes};
      case 6:
        return ThreadOf(of.thread);
      case 7:
        return FileOf(of.stack);
      case 8:
        return LineOf(of.stack);
      case 9:
        return FunctionOf(of.stack);
      default:
        return IntegerOrNot(of.stack);
    }
  }

 private:
  static RelationValue NameOf(TaskAction action) {
    static constexpr absl::string_view kNames[] = {
        "waits", "done", "blocked", "runs", "raised", "cancelled"};
    const auto index = static_cast<size_t>(action);
    return index < std::size(kNames) ? kNames[index] : RelationValue();
  }
};

}  // namespace

std::unique_ptr<Relation> TaskStepsRelation(const RelationRun* run) {
  return MakeEventRelation<TaskSteps>(run);
}

}  // namespace pymemrun
