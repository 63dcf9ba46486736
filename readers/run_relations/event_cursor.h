// Relations whose rows stand in the file as they are. They are read as they are
// asked for, a record at a time.
#ifndef PYMEMRUN_READERS_RUN_RELATIONS_EVENT_CURSOR_H_
#define PYMEMRUN_READERS_RUN_RELATIONS_EVENT_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/records/read_steps.h"
#include "readers/relations/relation.h"
#include "readers/run_relations/relation_run.h"

namespace pymemrun {

// Times as the file has them, as relations show them.
inline RelationValue SecondsOf(uint64_t us) {
  return static_cast<double>(us) / 1e6;
}
inline RelationValue SecondsOfNs(uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}
inline RelationValue IntegerOf(uint64_t number) {
  return static_cast<int64_t>(number);
}
// 0 is not known.
inline RelationValue IntegerOrNot(uint64_t number) {
  return number == 0 ? RelationValue() : IntegerOf(number);
}
inline RelationValue TextOrNot(absl::string_view text) {
  return text.empty() ? RelationValue() : RelationValue(text);
}

// A walk over a run file's events of one kind. A class derived from it takes
// them from the visitor's methods, and says what their cells are; it has
// kName, kAbout and kColumns, and a static Missing(), see Relation. Not thread
// safe.
template <typename Event>
class EventCursor : public RowCursor, public RecordVisitor {
 public:
  explicit EventCursor(const RelationRun* run)
      : run_(*run), source_(run->file()->fd()) {}

  HeapUse heap_use() const override { return HeapUse::kNone; }
  absl::StatusOr<bool> Next() override {
    if (++at_ < events_.size()) return true;
    // It asks the visitor, which is whole by now.
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

 protected:
  void Take(const Event& event) { events_.push_back(event); }
  void Take(const Event* events, size_t count) {
    events_.insert(events_.end(), events, events + count);
  }
  const Event& event() const { return events_[at_]; }

  const RelationRun& run() const { return run_; }
  const RunIndex& index() const { return run_.index(); }
  // By its last name.
  RelationValue ThreadOf(uint32_t thread) const {
    return TextOrNot(index().LatestThreadLabel(thread));
  }
  // Of the innermost frame.
  RelationValue FileOf(uint32_t stack) const {
    return TextOrNot(index().ResolveStack(stack).file);
  }
  RelationValue LineOf(uint32_t stack) const {
    return IntegerOrNot(index().ResolveStack(stack).line);
  }
  RelationValue FunctionOf(uint32_t stack) const {
    if (stack == 0) return {};
    return TextOrNot(index().ResolveStack(stack).qualname);
  }
  RelationValue AddressOf(uint64_t address) {
    made_ = absl::StrCat("0x", absl::Hex(address));
    return absl::string_view(made_);
  }

 private:
  const RelationRun& run_;
  BesideSource source_;
  std::optional<ReadSteps> steps_;
  bool ended_ = false;
  std::vector<Event> events_;  // of one record
  size_t at_ = SIZE_MAX;
  std::string made_;
};

// The relation of such a cursor. The run must outlive it.
template <typename Cursor>
class EventRelation final : public Relation {
 public:
  explicit EventRelation(const RelationRun* run) : run_(run) {}
  const char* name() const override { return Cursor::kName; }
  const char* about() const override { return Cursor::kAbout; }
  absl::Span<const RelationColumn> columns() const override {
    return Cursor::kColumns;
  }
  std::unique_ptr<RowCursor> Rows() override {
    return std::make_unique<Cursor>(run_);
  }
  std::string Missing() override { return Cursor::Missing(*run_); }

 private:
  const RelationRun* const run_;
};

template <typename Cursor>
std::unique_ptr<Relation> MakeEventRelation(const RelationRun* run) {
  return std::make_unique<EventRelation<Cursor>>(run);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_RELATIONS_EVENT_CURSOR_H_
