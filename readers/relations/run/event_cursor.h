// Relations over events of the run file, which are read one record at a time
// when they are needed.
#ifndef PYMEMRUN_READERS_RELATIONS_RUN_EVENT_CURSOR_H_
#define PYMEMRUN_READERS_RELATIONS_RUN_EVENT_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/records/read_steps.h"
#include "readers/relations/engine/relation_columns.h"
#include "readers/relations/run/relation_run.h"

namespace pymemrun {

// An event, in the form that its columns take.
template <typename Event>
struct EventRow {
  const Event& of;
  const RelationRun& run;
  std::string* made;

  const RunIndex& index() const { return run.index(); }
  // The thread's last name.
  RelationValue Thread(uint32_t thread) const {
    return TextOrNot(index().LatestThreadLabel(thread));
  }
  // The file of the innermost frame; unknown without a stack.
  RelationValue File(uint32_t stack) const {
    if (stack == 0) return {};
    return TextOrNot(index().ResolveStack(stack).file);
  }
  RelationValue Line(uint32_t stack) const {
    return IntegerOrNot(index().ResolveStack(stack).line);
  }
  RelationValue Function(uint32_t stack) const {
    if (stack == 0) return {};
    return TextOrNot(index().ResolveStack(stack).qualname);
  }
};

// Walks over a run file's events of one kind. A derived class passes them on
// from the visitor's method. Not thread safe.
template <typename Event>
class EventCursor : public RowCursor, public RecordVisitor {
 public:
  using CursorRow = EventRow<Event>;
  EventCursor(const RelationRun* run,
              absl::Span<const ColumnOf<CursorRow>> columns)
      : run_(*run), columns_(columns), source_(run->file()->fd()) {}

  HeapUse heap_use() const override { return HeapUse::kNone; }
  absl::StatusOr<bool> Next() override {
    if (++at_ < events_.size()) return true;
    // Created here, as the visitor's constructor has finished.
    if (!steps_.has_value()) {
      steps_.emplace(&source_, StreamReader::Options(), this);
    }
    events_.clear();
    at_ = 0;
    while (events_.empty() && !ended_) {
      const absl::StatusOr<bool> more = steps_->Step();
      if (!more.ok()) return more.status();
      ended_ = !*more;
    }
    return !events_.empty();
  }
  RelationValue At(int column) override {
    return columns_[column].cell({events_[at_], run_, &made_});
  }

 protected:
  void Take(const Event& event) { events_.push_back(event); }
  // For the visitor's methods that take several events.
  bool Take(const Event* events, size_t count) {
    events_.insert(events_.end(), events, events + count);
    return true;
  }

 private:
  const RelationRun& run_;
  const absl::Span<const ColumnOf<CursorRow>> columns_;
  BesideSource source_;
  std::optional<ReadSteps> steps_;
  bool ended_ = false;
  std::vector<Event> events_;  // of one record
  size_t at_ = SIZE_MAX;
  std::string made_;
};

// The relation of such a cursor. The run must outlive it.
template <typename Cursor>
class EventRelation final
    : public SpecifiedRelation<typename Cursor::CursorRow> {
 public:
  using Spec = RelationSpec<typename Cursor::CursorRow>;
  // `needed`: what a run must have recorded to have these events; none:
  // nothing.
  EventRelation(const Spec& spec, const RelationRun* run,
                std::optional<Recorded> needed)
      : SpecifiedRelation<typename Cursor::CursorRow>(spec),
        run_(run),
        needed_(needed) {}
  std::unique_ptr<RowCursor> Rows() override {
    return std::make_unique<Cursor>(run_, this->spec().columns);
  }
  std::string Missing() override {
    return needed_.has_value() ? run_->Lacks(*needed_) : "";
  }

 private:
  const RelationRun* const run_;
  const std::optional<Recorded> needed_;
};

template <typename Cursor>
std::unique_ptr<Relation> MakeEventRelation(
    const typename EventRelation<Cursor>::Spec& spec, const RelationRun* run,
    std::optional<Recorded> needed = std::nullopt) {
  return std::make_unique<EventRelation<Cursor>>(spec, run, needed);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_RUN_EVENT_CURSOR_H_
