// Threads, tasks, stacks and mappings: what other relations' ids stand for.
#include <algorithm>

#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

// Rows `from` to `end`. `Table` has kName, kAbout and kColumns, counts its rows
// by End(), and has their cells by At(). Where a row's id is its number, kHasId
// says so and the first column is that id.
template <typename Table>
class NumberedRelation final : public Relation {
 public:
  explicit NumberedRelation(const RelationRun* run) : run_(run) {}
  const char* name() const override { return Table::kName; }
  const char* about() const override { return Table::kAbout; }
  absl::Span<const RelationColumn> columns() const override {
    return Table::kColumns;
  }
  uint64_t expected_rows() override { return Table::End(*run_); }
  std::unique_ptr<RowCursor> Rows() override {
    return std::make_unique<Cursor>(*run_, Table::kFirst, Table::End(*run_));
  }
  uint64_t RowsOfOne(int column) const override {
    return Table::kHasId && column == 0;
  }
  std::unique_ptr<RowCursor> Find(int, int64_t number,
                                  absl::string_view) override {
    const uint64_t end = Table::End(*run_);
    const auto row = static_cast<uint64_t>(number);
    const bool is_there = row >= Table::kFirst && row < end;
    return std::make_unique<Cursor>(*run_, is_there ? row : end,
                                    is_there ? row + 1 : end);
  }

 private:
  class Cursor final : public RowCursor {
   public:
    Cursor(const RelationRun& run, uint64_t begin, uint64_t end)
        : run_(run), next_(begin), end_(end) {}
    absl::StatusOr<bool> Next() override {
      row_ = static_cast<uint32_t>(next_);
      return next_++ < end_;
    }
    RelationValue At(int column) override {
      return Table::At(run_, row_, column);
    }

   private:
    const RelationRun& run_;
    uint64_t next_;
    const uint64_t end_;
    uint32_t row_ = 0;
  };
  const RelationRun* const run_;
};

struct Threads {
  static constexpr char kName[] = "threads";
  static constexpr char kAbout[] = "a thread; once more for each later name";
  static constexpr RelationColumn kColumns[] = {
      {"id", ValueKind::kInteger, Unit::kNone, "its number in the file"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id, its last name"},
      {"name", ValueKind::kText, Unit::kNone, "its name at that time"},
      {"native_id", ValueKind::kInteger, Unit::kNone, "the kernel's number"},
      {"first_id", ValueKind::kInteger, Unit::kNone,
       "the id that it had by its first name"}};
  static constexpr bool kHasId = true;
  static constexpr uint64_t kFirst = 1;
  static uint64_t End(const RelationRun& run) {
    return run.index().threads() + 1;
  }
  static RelationValue At(const RelationRun& run, uint32_t row, int column) {
    const RunIndex& index = run.index();
    switch (column) {
      case 0:
        return IntegerOf(row);
      case 1:
        return TextOrNot(index.LatestThreadLabel(row));
      case 2:
        return TextOrNot(index.ThreadName(row));
      case 3:
        return IntegerOrNot(index.ThreadNativeId(row));
      default:
        return IntegerOf(index.FirstThread(row));
    }
  }
};

struct Tasks {
  static constexpr char kName[] = "tasks";
  static constexpr char kAbout[] =
      "a task or greenlet; once more for each later name";
  static constexpr RelationColumn kColumns[] = {
      {"task", ValueKind::kInteger, Unit::kNone, "its number in the file"},
      {"name", ValueKind::kText, Unit::kNone, "its name at that time"},
      {"kind", ValueKind::kText, Unit::kNone, "asyncio or greenlet"},
      {"clock_s", ValueKind::kReal, Unit::kSeconds,
       "when it was seen first, since the run began"},
      {"file", ValueKind::kText, Unit::kNone, "of its coroutine"},
      {"line", ValueKind::kInteger, Unit::kNone, "of its coroutine"},
      {"function", ValueKind::kText, Unit::kNone, "its coroutine"},
      {"stack", ValueKind::kInteger, Unit::kNone, "an id of stacks"}};
  static constexpr bool kHasId = false;
  static constexpr uint64_t kFirst = 0;
  static uint64_t End(const RelationRun& run) { return run.tasks().size(); }
  static RelationValue At(const RelationRun& run, uint32_t row, int column) {
    const TaskDef& task = run.tasks()[row];
    const SourceLocation place = run.index().ResolveStack(task.stack());
    switch (column) {
      case 0:
        return IntegerOf(task.task());
      case 1:
        return TextOrNot(task.name());
      case 2:
        return task.kind() == TASK_GREENLET ? "greenlet" : "asyncio";
      case 3:
        return SecondsOf(task.time_us());
      case 4:
        return TextOrNot(place.file);
      case 5:
        return IntegerOrNot(place.line);
      case 6:
        return TextOrNot(task.stack() == 0 ? "" : place.qualname);
      default:
        return IntegerOrNot(task.stack());
    }
  }
};

struct Stacks {
  static constexpr char kName[] = "stacks";
  static constexpr char kAbout[] = "a stack: its innermost frame, and the rest";
  static constexpr RelationColumn kColumns[] = {
      {"id", ValueKind::kInteger, Unit::kNone, "its number in the file"},
      {"parent", ValueKind::kInteger, Unit::kNone,
       "the id of the stack without this frame"},
      {"file", ValueKind::kText, Unit::kNone, "of the frame"},
      {"line", ValueKind::kInteger, Unit::kNone, "of the frame"},
      {"function", ValueKind::kText, Unit::kNone, "of the frame"},
      {"own", ValueKind::kInteger, Unit::kNone,
       "the id of the stack down to your own code"},
      {"imports", ValueKind::kInteger, Unit::kNone,
       "1: something is imported by it"}};
  static constexpr bool kHasId = true;
  static constexpr uint64_t kFirst = 1;
  static uint64_t End(const RelationRun& run) {
    return run.index().stacks() + 1;
  }
  static RelationValue At(const RelationRun& run, uint32_t row, int column) {
    const RunIndex& index = run.index();
    switch (column) {
      case 0:
        return IntegerOf(row);
      case 1:
        return IntegerOrNot(index.ParentStack(row));
      case 2:
        return TextOrNot(index.ResolveStack(row).file);
      case 3:
        return IntegerOrNot(index.ResolveStack(row).line);
      case 4:
        return TextOrNot(index.ResolveStack(row).qualname);
      case 5:
        return IntegerOrNot(index.OwnStack(row));
      default:
        return IntegerOf(index.Imports(row));
    }
  }
};

struct Mappings {
  static constexpr char kName[] = "mappings";
  static constexpr char kAbout[] = "what pages were part of, or code";
  static constexpr RelationColumn kColumns[] = {
      {"id", ValueKind::kInteger, Unit::kNone, "its number in the file"},
      {"name", ValueKind::kText, Unit::kNone,
       "a path, [heap], [stack], or nothing"}};
  static constexpr bool kHasId = true;
  static constexpr uint64_t kFirst = 1;
  static uint64_t End(const RelationRun& run) {
    return run.index().mappings() + 1;
  }
  static RelationValue At(const RelationRun& run, uint32_t row, int column) {
    return column == 0 ? IntegerOf(row)
                       : TextOrNot(run.index().MappingName(row));
  }
};

}  // namespace

std::unique_ptr<Relation> ThreadsRelation(const RelationRun* run) {
  return std::make_unique<NumberedRelation<Threads>>(run);
}

std::unique_ptr<Relation> TasksRelation(const RelationRun* run) {
  return std::make_unique<NumberedRelation<Tasks>>(run);
}

std::unique_ptr<Relation> StacksRelation(const RelationRun* run) {
  return std::make_unique<NumberedRelation<Stacks>>(run);
}

std::unique_ptr<Relation> MappingsRelation(const RelationRun* run) {
  return std::make_unique<NumberedRelation<Mappings>>(run);
}

}  // namespace pymemrun
