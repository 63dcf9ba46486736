// Threads, tasks, stacks and mappings: what other relations' ids stand for.
#include <algorithm>

#include "readers/places/place.h"
#include "readers/relations/engine/relation_columns.h"
#include "readers/relations/run/run_relations.h"

namespace pymemrun {
namespace {

struct DefinitionRow {
  const RelationRun& run;
  uint32_t id;
  const RunIndex& index() const { return run.index(); }
};

// Definitions whose ids count from 1 to that of the last one. The run's index
// has them all, so they are found without reading the file again.
class Definitions final : public NumberedRelation<DefinitionRow> {
 public:
  using LastId = uint64_t (*)(const RunIndex&);
  Definitions(const RelationSpec<DefinitionRow>& spec, const RelationRun* run,
              LastId last)
      : NumberedRelation(spec), run_(run), last_(last) {}
  uint64_t expected_rows() override { return last_(run_->index()); }
  uint64_t RowsOfOne(int column) const override { return column == 0; }
  std::unique_ptr<RowCursor> Find(int, int64_t number,
                                  absl::string_view) override {
    return OneRow(number);
  }

 private:
  uint64_t First() const override { return 1; }
  absl::StatusOr<uint64_t> End() override { return last_(run_->index()) + 1; }
  DefinitionRow RowAt(uint64_t number, std::string*) override {
    return {*run_, static_cast<uint32_t>(number)};
  }

  const RelationRun* const run_;
  const LastId last_;
};

constexpr ColumnOf<DefinitionRow> kThreadColumns[] = {
    {"id", kInteger, "its number in the file",
     [](const DefinitionRow& row) { return IntegerOf(row.id); }},
    {"thread", kText, "name#id, its last name",
     [](const DefinitionRow& row) {
       return TextOrNot(row.index().LatestThreadLabel(row.id));
     }},
    {"name", kText, "its name at that time",
     [](const DefinitionRow& row) {
       return TextOrNot(row.index().ThreadName(row.id));
     }},
    {"native_id", kInteger, "the kernel's number of the thread",
     [](const DefinitionRow& row) {
       return IntegerOrNot(row.index().ThreadNativeId(row.id));
     }},
    {"first_id", kInteger, "the id of its first name",
     [](const DefinitionRow& row) {
       return IntegerOf(row.index().FirstThread(row.id));
     }}};

constexpr ColumnOf<DefinitionRow> kStackColumns[] = {
    {"id", kInteger, "its number in the file",
     [](const DefinitionRow& row) { return IntegerOf(row.id); }},
    {"parent", kInteger, "the id of the stack without this frame",
     [](const DefinitionRow& row) {
       return IntegerOrNot(row.index().ParentStack(row.id));
     }},
    {"file", kText, "file of the frame",
     [](const DefinitionRow& row) {
       return TextOrNot(row.index().ResolveStack(row.id).file);
     }},
    {"line", kInteger, "line of the frame",
     [](const DefinitionRow& row) {
       return IntegerOrNot(row.index().ResolveStack(row.id).line);
     }},
    {"function", kText, "function of the frame",
     [](const DefinitionRow& row) {
       return TextOrNot(row.index().ResolveStack(row.id).qualname);
     }},
    {"own", kInteger, "the id of the stack down to your own code",
     [](const DefinitionRow& row) {
       return IntegerOrNot(row.index().OwnStack(row.id));
     }},
    {"imports", kInteger, "1: the frame imports a module",
     [](const DefinitionRow& row) {
       return IntegerOf(row.index().Imports(row.id));
     }},
    {"package", kText, "package of the frame, as in --by package",
     [](const DefinitionRow& row) {
       return TextOrNot(
           PlaceOf(GroupBy::kPackage, row.index().ResolveStack(row.id)).file);
     }}};

constexpr ColumnOf<DefinitionRow> kMappingColumns[] = {
    {"id", kInteger, "its number in the file",
     [](const DefinitionRow& row) { return IntegerOf(row.id); }},
    {"name", kText, "a path, [heap], [stack], or nothing",
     [](const DefinitionRow& row) {
       return TextOrNot(row.index().MappingName(row.id));
     }}};

struct TaskRow {
  const TaskDef& of;
  SourceLocation place;  // of its coroutine
};
constexpr ColumnOf<TaskRow> kTaskColumns[] = {
    {"task", kInteger, "its number in the file",
     [](const TaskRow& row) { return IntegerOf(row.of.task()); }},
    {"name", kText, "its name at that time",
     [](const TaskRow& row) { return TextOrNot(row.of.name()); }},
    {"kind", kText, "asyncio or greenlet",
     [](const TaskRow& row) {
       return RelationValue(row.of.kind() == TASK_GREENLET ? "greenlet"
                                                           : "asyncio");
     }},
    {"clock_s", kSeconds, "when it was seen first, since the run began",
     [](const TaskRow& row) { return SecondsOf(row.of.time_us()); }},
    {"file", kText, "file of its coroutine",
     [](const TaskRow& row) { return TextOrNot(row.place.file); }},
    {"line", kInteger, "line of its coroutine",
     [](const TaskRow& row) { return IntegerOrNot(row.place.line); }},
    {"function", kText, "its coroutine",
     [](const TaskRow& row) {
       return TextOrNot(row.of.stack() == 0 ? "" : row.place.qualname);
     }},
    {"stack", kInteger, "an id of stacks",
     [](const TaskRow& row) { return IntegerOrNot(row.of.stack()); }}};

// A task has a row for each of its names, so its number may occur more than
// once.
class TaskDefinitions final : public NumberedRelation<TaskRow> {
 public:
  explicit TaskDefinitions(const RelationRun* run)
      : NumberedRelation({"tasks",
                          "a task or greenlet; once more for each later name",
                          kTaskColumns}),
        run_(run) {}
  uint64_t expected_rows() override { return run_->tasks().size(); }
  std::string Missing() override { return run_->Lacks(Recorded::kTasks); }

 private:
  absl::StatusOr<uint64_t> End() override { return run_->tasks().size(); }
  TaskRow RowAt(uint64_t number, std::string*) override {
    const TaskDef& task = run_->tasks()[number];
    return {task, run_->index().ResolveStack(task.stack())};
  }

  const RelationRun* const run_;
};

}  // namespace

std::unique_ptr<Relation> ThreadsRelation(const RelationRun* run) {
  const RelationSpec<DefinitionRow> spec = {
      "threads", "a thread; once more for each later name", kThreadColumns};
  return std::make_unique<Definitions>(
      spec, run,
      [](const RunIndex& index) -> uint64_t { return index.threads(); });
}

std::unique_ptr<Relation> TasksRelation(const RelationRun* run) {
  return std::make_unique<TaskDefinitions>(run);
}

std::unique_ptr<Relation> StacksRelation(const RelationRun* run) {
  const RelationSpec<DefinitionRow> spec = {
      "stacks", "a stack: its innermost frame, and the rest", kStackColumns};
  return std::make_unique<Definitions>(
      spec, run,
      [](const RunIndex& index) -> uint64_t { return index.stacks(); });
}

std::unique_ptr<Relation> MappingsRelation(const RelationRun* run) {
  const RelationSpec<DefinitionRow> spec = {
      "mappings", "what pages were part of, or code", kMappingColumns};
  return std::make_unique<Definitions>(
      spec, run,
      [](const RunIndex& index) -> uint64_t { return index.mappings(); });
}

}  // namespace pymemrun
